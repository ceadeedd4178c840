// Collections, generators, proxies, exceptions, typed arrays, promises and async functions. For ever.
class Base { get twice() { return this.n * 2; } }
class Item extends Base { constructor(n) { super(); this.n = n; } }
function* numbers(n) { for (let i = 0; i < n; i++) yield i; }
const handler = { get: (o, k) => Reflect.get(o, k) ?? 0, has: () => true };
function thrower(n) {
	if (n > 0) return thrower(n - 1) + 1;
	throw new RangeError('deep');
}
function collections() {
	const map = new Map(), set = new Set(), weak = new WeakMap();
	for (const i of numbers(500)) {
		const item = new Item(i);
		map.set('k' + i % 50, item.twice);
		set.add(i % 77);
		weak.set(item, i);
	}
	return [...map.entries()].filter(([k]) => /k[1-3]/.test(k)).length + set.size;
}
function proxies() {
	const p = new Proxy({ a: 1 }, handler);
	let sum = 0;
	for (let i = 0; i < 300; i++)
		sum += p.a + p['x' + i % 7] + ('b' in p);
	return Reflect.apply(Math.max, null, [sum, 1]);
}
function errors() {
	let caught = 0;
	for (let i = 0; i < 20; i++)
		try { thrower(i); } catch (e) { caught += e.message.length; }
	return caught;
}
function bytes() {
	const a = new Float64Array(300).map((_, i) => Math.sin(i)).sort();
	return String.fromCharCode(...[...'grüße'].map(c => c.codePointAt(0))) + a[3].toFixed(3) +
		BigInt.asUintN(64, 3n ** 40n) + new Date(1e12).toISOString();
}
async function later(n) { return n ? 1 + await later(n - 1) : Promise.resolve(0); }
async function round() {
	collections(); proxies(); errors(); bytes();
	const got = await Promise.all([later(5), later(9), Promise.reject(new Error('x')).catch(() => 0)]);
	return JSON.parse(JSON.stringify({ got, text: 'a,b;c'.split(/[,;]/).join('|'), s: structuredClone([1, 2]) }));
}
(async () => { for (;;) await round(); })();
