import { notePromise, scaled } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { toModelText } from "../../src/text/model-text.ts";
import { toSafeJson, toSafeLine, toSafeText, toVisibleLine } from "../../src/text/safe-text.ts";
import { hasUnseen } from "../../src/text/unseen.ts";

/** All of Unicode falls into these, the first that fits; each gate treats each in one way. */
const classes = [
  ["line break or tab", /[\n\t]/u],
  ["control", /\p{Cc}/u],
  ["lone surrogate", /\p{Cs}/u],
  ["tag", /[\u{e0000}-\u{e007f}]/u],
  ["variation selector", /\p{Variation_Selector}/u],
  ["bidi control", /\p{Bidi_Control}/u],
  ["zero-width or other invisible", /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u],
  ["private use", /\p{Co}/u],
  ["unassigned", /\p{Cn}/u],
  ["line separator", /[\u2028\u2029]/u],
  ["exotic space", /(?! )\p{Zs}/u],
  ["mark", /\p{M}/u],
  ["seen", /./su],
] as const;
type Class = (typeof classes)[number][0];

function classOf(character: string): Class | undefined {
  return classes.find(([, pattern]) => pattern.test(character))?.[0];
}

/** A block holds no pair of surrogates: high ones are in other blocks than low ones. */
const blockSize = 1024;

/** Returns the class of a text whose characters are all of one class, otherwise undefined. */
function classOfAll(text: string): Class | undefined {
  const first = classes.find(([, pattern]) => pattern.test(text));
  return first !== undefined && new RegExp(`^(?:${first[1].source})+$`, first[1].flags).test(text)
    ? first[0]
    : undefined;
}

interface Run {
  readonly kind: Class | undefined;
  readonly characters: string[];
}

/** Neighbours of one class. */
const runs: Run[] = [];
for (let from = 0; from <= 0x10ffff; from += blockSize) {
  const block = Array.from({ length: blockSize }, (_, at) => String.fromCodePoint(from + at));
  const common = classOfAll(block.join(""));
  for (const character of block) {
    const kind = common ?? classOf(character);
    const last = runs.at(-1);
    if (last !== undefined && last.kind === kind) last.characters.push(character);
    else runs.push({ kind, characters: [character] });
  }
}

/** Of a run that fills whole planes, its ends and every so many between; all of it with `--long`. */
const step = scaled(1, 40);
const tried = ({ characters }: Run): readonly string[] =>
  characters.filter((_, at) => characters.length < 1000 || at % step === 0 || at === characters.length - 1);
const members = new Map<Class, readonly string[]>(
  classes.map(([name]) => [name, runs.filter(({ kind }) => kind === name).flatMap(tried)]),
);

/** What becomes of a character in the middle of a Latin word. */
type Fate = "kept" | "left out" | "shown" | "replaced";

function fateOf(character: string, result: string | undefined): Fate {
  if (result === character) return "kept";
  if (result === "") return "left out";
  const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return result === `⟨U+${number}⟩` || /^[\u2400-\u2421]$/.test(result ?? "") ? "shown" : "replaced";
}

const gates = [
  ["toSafeText", toSafeText],
  ["toSafeLine", toSafeLine],
  ["toVisibleLine", toVisibleLine],
  ["toModelText", toModelText],
] as const;
type Gate = (typeof gates)[number][0];

const fates: Record<Class, Record<Gate, Fate>> = {
  "line break or tab": { toSafeText: "kept", toSafeLine: "shown", toVisibleLine: "shown", toModelText: "kept" },
  control: { toSafeText: "shown", toSafeLine: "shown", toVisibleLine: "shown", toModelText: "left out" },
  "lone surrogate": { toSafeText: "shown", toSafeLine: "shown", toVisibleLine: "shown", toModelText: "replaced" },
  tag: { toSafeText: "left out", toSafeLine: "left out", toVisibleLine: "shown", toModelText: "left out" },
  "variation selector": {
    toSafeText: "left out",
    toSafeLine: "left out",
    toVisibleLine: "shown",
    toModelText: "left out",
  },
  "bidi control": { toSafeText: "left out", toSafeLine: "left out", toVisibleLine: "shown", toModelText: "left out" },
  "zero-width or other invisible": {
    toSafeText: "left out",
    toSafeLine: "left out",
    toVisibleLine: "shown",
    toModelText: "left out",
  },
  "private use": { toSafeText: "shown", toSafeLine: "shown", toVisibleLine: "shown", toModelText: "kept" },
  unassigned: { toSafeText: "shown", toSafeLine: "shown", toVisibleLine: "shown", toModelText: "kept" },
  "line separator": { toSafeText: "shown", toSafeLine: "shown", toVisibleLine: "shown", toModelText: "kept" },
  "exotic space": { toSafeText: "kept", toSafeLine: "kept", toVisibleLine: "shown", toModelText: "kept" },
  mark: { toSafeText: "kept", toSafeLine: "kept", toVisibleLine: "kept", toModelText: "kept" },
  seen: { toSafeText: "kept", toSafeLine: "kept", toVisibleLine: "kept", toModelText: "kept" },
};

describe.each(gates)("%s, over all of Unicode", (name, gate) => {
  test.each(classes.map(([kind]) => kind))("%s", (kind) => {
    const characters = members.get(kind)?.filter((character) => character !== "x") ?? [];
    const results = gate(`x${characters.join("x")}x`).split("x");
    const others = characters.filter((character, at) => {
      const fate = fateOf(character, results[at + 1]);
      return fate !== fates[kind][name] && !isExcepted(name, character, fate);
    });
    expect(characters.length).toBeGreaterThan(0);
    expect(others.map((character) => character.codePointAt(0)?.toString(16))).toEqual([]);
  });
});

/** In a Latin word, letters of other alphabets are lookalikes to the user who decides; a carriage return means nothing bad to a model. */
function isExcepted(gate: Gate, character: string, fate: Fate): boolean {
  if (gate === "toModelText") return character === "\r";
  return gate === "toVisibleLine" && /\p{L}/u.test(character) && fate === "shown";
}

test("the classes cover all code points, and each of them is one", () => {
  notePromise({
    group: "terminal",
    promise: "every code point of Unicode is kept, shown or left out at each gate as its class says",
    tries: [...members.values()].flat().length,
    failures: 0,
    load: `${classes.length} classes, ${Object.keys(fates.mark).length} gates`,
  });
  const sizes = runs.map(({ kind, characters }) => (kind === undefined ? 0 : characters.length));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(0x110000);
});

test("every class but that of what is seen, and marks on a letter, has something unseen", () => {
  const unseen = classes.filter(([kind]) => (members.get(kind) ?? []).every(hasUnseen)).map(([kind]) => kind);
  const seen = classes.filter(([kind]) => !(members.get(kind) ?? []).some(hasUnseen)).map(([kind]) => kind);
  expect(seen).toEqual(["mark", "seen"]);
  expect([...unseen, ...seen]).toEqual(classes.map(([kind]) => kind));
});

test.each(classes.map(([kind]) => kind))("JSON is the same document after its gate, whatever it holds: %s", (kind) => {
  const text = members.get(kind)?.join("x");
  const printed = toSafeJson({ text }, 0);
  expect(JSON.parse(printed).text === text).toBe(true);
  expect(/^[ -~]*$/.test(printed)).toBe(!["exotic space", "mark", "seen"].includes(kind));
});
