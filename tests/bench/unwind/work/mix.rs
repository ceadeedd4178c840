// Threads, hash maps, formatting, closures, recursion. For ever.
use std::collections::HashMap;

fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

fn work(seed: u64) -> u64 {
    let mut groups: HashMap<String, Vec<u64>> = HashMap::new();
    for i in 0..500u64 {
        groups.entry(format!("k{}", (i.wrapping_mul(seed)) % 37)).or_default().push(i);
    }
    let mut sum = 0;
    for (name, members) in groups.iter_mut() {
        members.sort_by_key(|x| x % 7);
        sum += name.len() as u64 + members.iter().map(|x| fib(x % 10)).sum::<u64>();
    }
    sum
}

fn main() {
    let threads: Vec<_> = (0..2u64)
        .map(|i| std::thread::spawn(move || {
            let mut seed = i + 1;
            loop { seed = work(seed) | 1; }
        }))
        .collect();
    for thread in threads {
        let _: u64 = thread.join().unwrap();
    }
}
