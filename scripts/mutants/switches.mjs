/*
 * Writes many mutants into one source at the same time, each behind a switch with its number. Because of that, vitest
 * compiles and loads the sources once for all mutants. switch-functions.mjs defines `$mutants`.
 */

/** For each form: the text before the expression or statement, the text that replaces its token, and the text after it. */
const forms = {
  inversion: ({ number }) => ({ before: `$mutants.inverted(${number},(`, after: "))" }),
  string: ({ number }) => ({ before: `$mutants.text(${number},`, after: ")" }),
  return: ({ number }) => ({ before: `$mutants.isOn(${number})?undefined:(`, after: ")" }),
  // The outer braces keep a following `else` with its own `if`.
  call: ({ number }) => ({ before: `{if(!$mutants.isOn(${number})){`, after: "}}" }),
  method: ({ number, original, replacement }) => ({
    inPlace: `[$mutants.method(${number},"${original}","${replacement}")]`,
  }),
  fallback: ({ number }) => conditional("isMissing", number),
  operator: ({ number, original, replacement }) =>
    original === "&&" || original === "||"
      ? conditional(original === "&&" ? "isTrue" : "isFalse", number)
      : { before: `$mutants.result(${number},"${original}","${replacement}",(`, inPlace: "),(", after: "))" },
};

/** The right side is evaluated only if the function with this name returns true. Otherwise the result is the left side. */
function conditional(name, number) {
  return { before: `($mutants.${name}(${number},(`, inPlace: "))?(", after: "):$mutants.left())" };
}

/** Returns the source with a switch for each of these mutants. Each mutant needs a `number`. */
export function withSwitches(source, mutants) {
  const bytes = Buffer.from(source);
  const outerFirst = mutants.toSorted(
    (one, other) =>
      one.whole.start - other.whole.start ||
      other.whole.end - one.whole.end ||
      // If both have the same expression, a mutant of the whole expression is outside of a mutant of its operator.
      Number("token" in one) - Number("token" in other),
  );
  const pieces = outerFirst.flatMap((mutant, order) => {
    const { before = "", inPlace, after = "" } = forms[mutant.form](mutant);
    const { start, end } = mutant.whole;
    return [
      { start, end: start, text: before, rank: 1, order },
      // If two mutants end at the same position, the text after the inner one comes first.
      { start: end, end, text: after, rank: 0, order: -order },
      ...(inPlace === undefined ? [] : [{ ...mutant.token, text: inPlace, rank: 2, order }]),
    ];
  });
  pieces.sort((one, other) => one.start - other.start || one.rank - other.rank || one.order - other.order);
  let position = 0;
  const parts = pieces.flatMap(({ start, end, text }) => {
    const part = [bytes.subarray(position, Math.max(start, position)).toString(), text];
    position = Math.max(end, position);
    return part;
  });
  return [...parts, bytes.subarray(position).toString()].join("");
}
