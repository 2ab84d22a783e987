/** Finds `name: value` and `NAME=value` pairs in a text, such as an argument that contains JSON or shell code. */

/** A value with its name and its position in the text. */
export interface ValueInText {
  readonly name: string;
  /** The value as written, with escapes and without quotes. */
  readonly value: string;
  readonly start: number;
}

/**
 * Matches `"name": "value"` and `name: 12`, also with single or escaped quotes. The lookahead matches the whole name at
 * once. Without it, the search in a long word would be slow.
 */
const member =
  /(?=([\w.-]{1,80}))\1(?:\\*["'])?\s{0,9}:\s{0,9}(?:(\\*["'])((?:(?!\2)(?:\\.|[^\\]))*)\2|(-?\d[\d.]{0,40}))/gs;
/** Matches `NAME=value` and `--name="value"`. */
const assignment = /(?<![\w.-])([\w.-]{1,80})=(["']?)([^\s"';|&]+)\2/g;

/** The values in `text` whose names `isTelling` accepts, in order. A value inside an earlier value is left out. */
export function namedValuesIn(text: string, isTelling: (name: string) => boolean): readonly ValueInText[] {
  const found = [
    ...[...text.matchAll(member)].map((match) => toValue(match, match[3] ?? match[4] ?? "", match[2]?.length ?? 0)),
    ...[...text.matchAll(assignment)].map((match) => toValue(match, match[3] ?? "", match[2]?.length ?? 0)),
  ];
  const telling = found.filter(({ name, value }) => value !== "" && isTelling(name.replace(/^-+/, "")));
  let end = 0;
  return telling
    .sort((a, b) => a.start - b.start)
    .filter(({ start, value }) => {
      const isFree = start >= end;
      if (isFree) end = start + value.length;
      return isFree;
    });
}

function toValue({ 0: all, 1: name = "", index }: RegExpExecArray, value: string, quote: number): ValueInText {
  return { name, value, start: index + all.length - quote - value.length };
}

/** Returns `text` with `replacement(value)` in place of each value. */
export function replaceValues(
  text: string,
  values: readonly ValueInText[],
  replacement: (value: string) => string,
): string {
  let shown = "";
  let at = 0;
  for (const { value, start } of values) {
    shown += text.slice(at, start) + replacement(value);
    at = start + value.length;
  }
  return shown + text.slice(at);
}
