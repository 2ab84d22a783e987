import { runInThisContext } from "node:vm";
import { expect, test } from "vitest";
import { applied, mutantsOf } from "../../mutants/operators.mjs";
import { createSwitches } from "../../mutants/switch-functions.mjs";
import { withSwitches } from "../../mutants/switches.mjs";

/** Bodies of a function. Each has many mutants, some of them inside others, and returns the values that are compared. */
const sources = {
  operators: `return [1 === n, n !== 1, n < 1, n <= 1, n > 1, n >= 1, n - 1, n + 1, n * 3, n / 3, n % 3];`,
  "operators in operators": "return n - 1 > 0 === n < 2 && n * 2 - 1 >= n;",
  "short circuits": `
    const seen = [];
    const note = (value) => (seen.push(value), value);
    return [note(n) && note(0) && note(2), note(0) || note(n) || note(3), note(undefined) ?? note(null) ?? note(n), seen];`,
  "sides in parentheses": "return (n > 1 || (n === 0)) /* && */ && (n ?? 5);",
  conditions: `
    if (n === 1) log("one"); else if (n > 1 && !done) log("more"); else log("none");
    return [n > 0 ? "a" : "b", done ? true : false, logged];`,
  "calls and else": `
    if (n > 0)
      log("a");
    else log("b");
    log(n + 1);
    return logged;`,
  methods: `
    const list = [3, 1, 2]; list.push(n);
    return [list.some((each) => each > 2), list
      .find((each) => each < 3), Math.max(...list), "a.b.c".replaceAll(".", "-"), " x ".trimEnd(), list.shift()];`,
  functions: `
    const one = (x) => x > 1 && "é";
    const two = async (x) => { await one(x); return x === 1 ? "ü" : undefined; };
    function three(x = "x") { return x + 1; }
    return [one(2), one(n), three(), two.name];`,
};

test.each(Object.entries(sources))("a mutant that is switched on does what the changed source does: %s", (_, body) => {
  const source = `const run = (n, done, log, logged) => {${body}};`;
  const mutants = mutantsOf("a.ts", source).map((mutant, number) => ({ ...mutant, number }));
  const shuffled = mutants.toSorted(
    (one, other) => one.original.length - other.original.length || other.start - one.start,
  );
  const code = withSwitches(source, shuffled);
  expect(mutants.length).toBeGreaterThan(4);
  for (const n of [0, 1, 2]) {
    expect(resultOf(code, n, -1)).toEqual(resultOf(source, n));
    for (const mutant of mutants)
      expect([mutant, resultOf(code, n, mutant.number)]).toEqual([mutant, resultOf(applied(source, mutant), n)]);
  }
});

test("the switches note which mutants are reached", () => {
  const source = "n > 1 ? first(true) : last(false);";
  const mutants = mutantsOf("a.ts", source).map((mutant, number) => ({ ...mutant, number }));
  const $mutants = createSwitches();
  const code = withSwitches(source, mutants);
  const run = runInThisContext(`($mutants, n, first, last) => { ${code} }`);
  run($mutants, 1, Boolean, Boolean);
  const missed = mutants.filter(({ number }) => !$mutants.reached.has(number));
  expect(missed.map(({ original }) => original)).toEqual(["true"]);
});

function resultOf(code, n, active = -1) {
  const logged = [];
  const $mutants = Object.assign(createSwitches(), { active });
  try {
    const run = runInThisContext(`($mutants) => { ${code}; return run; }`)($mutants);
    return run(n, false, (text) => logged.push(text), logged);
  } catch (error) {
    return error.constructor.name;
  }
}
