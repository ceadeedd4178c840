// JIT code, builtins, runtime calls, callbacks from C++ into JavaScript. For ever.
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const pattern = /(a+)+b/;
for (;;) {
	const rows = [];
	for (let i = 0; i < 2000; i++)
		rows.push({ k: 'x' + i, v: i * i % 101 });
	rows.sort((x, y) => x.v - y.v);
	JSON.parse(JSON.stringify(rows));
	rows.map(x => x.k.replace(/[0-9]+/, m => m + 1));
	fib(18);
	pattern.test('aaaaaaaaaac');
}
