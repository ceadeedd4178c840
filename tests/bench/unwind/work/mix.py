# Interpreter, C extensions, sorting by callback, recursion. For ever.
import json
import re


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


while True:
    words = sorted([str(i) for i in range(2000)], key=lambda x: int(x) % 17)
    json.loads(json.dumps(words))
    re.sub("a+", "b", "aaa b" * 200)
    fib(14)
