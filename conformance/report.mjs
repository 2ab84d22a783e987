/** Formats the outcomes of scenarios, and how they differ from the expected ones. */

const columns = ["passed", "failed", "warned", "skipped"];

export function row(name, outcome) {
  const verdict = outcome.ok === undefined ? " " : outcome.ok ? "✓" : "✗";
  return `${verdict} ${name.padEnd(44)}${columns.map((column) => String(outcome[column]).padStart(6)).join("")}`;
}

/** Returns the sums of all columns, and how many of all scenarios are ok. */
export function totalsOf(outcomes) {
  const all = Object.values(outcomes);
  const sums = Object.fromEntries(columns.map((column) => [column, all.reduce((sum, one) => sum + one[column], 0)]));
  return { ...sums, ok: all.filter(({ ok }) => ok).length, all: all.length };
}

export function totalsRow(outcomes) {
  const { ok, all, ...sums } = totalsOf(outcomes);
  return row(`${ok} of ${all} scenarios`, sums);
}

/** Returns one line for `expected.json`. */
export function summary(outcome) {
  const counts = columns.filter((column) => outcome[column] > 0).map((column) => `${outcome[column]} ${column}`);
  return [outcome.ok ? "ok" : "not ok", ...counts].join(", ");
}

/** Reads the outcome in a line of `expected.json`. */
export function parseSummary(text) {
  const count = (column) => Number(new RegExp(`(\\d+) ${column}`).exec(text)?.[1] ?? 0);
  return { ok: !text.startsWith("not ok"), ...Object.fromEntries(columns.map((column) => [column, count(column)])) };
}

/** Returns a sentence about each unexpected outcome of one suite. If only some scenarios ran, only about those. */
export function surprisesIn(outcomes, { scenarios = {}, exceptions = {} } = {}, isPartial = false) {
  const missing = Object.keys(scenarios).filter((name) => !isPartial && !(name in outcomes));
  return [
    ...Object.entries(outcomes).flatMap(([name, outcome]) =>
      surprisesOf(name, outcome, scenarios[name], exceptions[name]),
    ),
    ...missing.map((name) => `${name} is expected, but the suite has no such scenario`),
  ];
}

function surprisesOf(name, outcome, before, exception) {
  const surprises = [];
  if (outcome.ok && outcome.passed === 0) surprises.push(`${name} passed, but nothing was checked`);
  if (!outcome.ok && exception === undefined) surprises.push(`${name} is not ok, and nothing excuses it`);
  if (outcome.ok && exception !== undefined) surprises.push(`${name} is ok and needs no excuse any more`);
  if (before !== summary(outcome)) surprises.push(`${name}: ${summary(outcome)}; expected: ${before ?? "nothing"}`);
  return surprises;
}
