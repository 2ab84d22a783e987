import { scaled, seed } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { parseInSlices } from "../../src/shapes/sliced-json.ts";

const maxMemory = 128 * 1024 * 1024;

/** Parses with a count of the turns that the parser gave to other code. */
async function parsed(text: string): Promise<{ readonly value: unknown; readonly turns: number }> {
  let turns = 0;
  const nextTurn = async (): Promise<void> => {
    turns += 1;
  };
  return { value: await parseInSlices(text, { maxMemory, nextTurn }), turns };
}

function native(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const long = "x".repeat(600_000);
const texts: readonly string[] = [
  ["0", "-0", "10", "01", "1.", ".5", "+1", "-", "1e5", "1E+5", "1e", "1.5e-3", "9007199254740993", "1e999"],
  ["null", "true", "false", "nul", "truex", "undefined", "NaN", "", " ", "\ufeff1", " 1 ", "1 2", "\u00a01"],
  [
    '""',
    '"a"',
    '"\\n"',
    '"\\u00e4"',
    '"\\ud83d\\ude00"',
    '"\\ud83d"',
    '"\\x"',
    '"\n"',
    '"a',
    '"\\"',
    '"\\\\"',
    '"\\u12"',
  ],
  ["[]", "[ ]", "[1]", "[1,]", "[,1]", "[1 2]", "[1", "]", "[1]]", "[[],[[]]]", "[1,[2,[3],4],5]", "\t[\r\n1 , 2 ]\n"],
  ["{}", "{ }", '{"a":1}', '{"a":1,}', '{"a"}', '{"a":}', "{a:1}", "{1:1}", '{"a":1 "b":2}', '{"a":1', "}", '{"a":1}}'],
  ['{"a":{"b":[{"c":null}]},"d":[]}', '{"a":1,"a":2}', '{"__proto__":{"x":1}}', '{"10":1,"2":2,"":3}', '{,"a":1}'],
  ['[{"a":[1,{"b":"c"}],"d":{}}]', "[}", "{]", '{"a":[}', '{"a":1]', '["a":1]'],
  [`"${long}"`, `["${long}\\n${long}"]`, `{"${long}":"${long}"}`, `"${long}`, `"${long}\\`, `"${long}\n"`],
  [`"${'\\u00e4\\\\\\"'.repeat(100_000)}"`, `[${" ".repeat(600_000)}1]`, `"${"ä😀".repeat(300_000)}"`],
  [`"${"y".repeat(40)}\\"${"y".repeat(40)}"`, `"${"y".repeat(31)}"`, `"${"y".repeat(30)}\\\\"`],
].flat();

test("a long text gives exactly what JSON.parse gives", async () => {
  for (const text of texts) {
    const { value } = await parsed(text);
    expect(value, text.slice(0, 80)).toStrictEqual(native(text));
    expect(JSON.stringify(value)).toBe(JSON.stringify(native(text)));
  }
});

test("a key __proto__ is a member and not a prototype", async () => {
  const { value } = await parsed('{"__proto__":{"isAdmin":true}}');
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(Object.keys(value as object)).toEqual(["__proto__"]);
});

test("a changed text is JSON here if and only if it is JSON for JSON.parse", async () => {
  const start = seed();
  let state = start;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
  const base = '{"a":[1,-2.5e3,"x\\u0041\\"y",{"b":null,"c":[true,false]}],"d":{"e":"ä😀","f":[[],{}]} , "g":10}';
  const alphabet = '{}[]",:\\ \n0123eE+-.tfnu"a';
  for (let round = 0; round < scaled(20_000); round += 1) {
    let text = base;
    for (let changes = random(3); changes >= 0; changes -= 1) {
      const at = random(text.length);
      text = text.slice(0, at) + (random(3) > 0 ? alphabet[random(alphabet.length)] : "") + text.slice(at + random(3));
    }
    const { value } = await parsed(text);
    const wanted = native(text);
    if (JSON.stringify(value) !== JSON.stringify(wanted)) expect.fail(`seed ${start}: ${text}`);
  }
});

const row = '{"id":12,"name":"x\\u0041\\"y","tags":["ä",null,{"id":1}]}';
const rows = `[${Array.from({ length: 2_000 }, () => row).join()}]`;
const spacedRows = `[\n  ${Array.from({ length: 2_000 }, () => row).join(",\n  ")}\n]`;
const tree = `[${row},{"id":1,"more":[${Array.from({ length: 3_000 }, () => row).join()}]},${row}]`;

test.each([
  ["rows", rows],
  ["rows on lines of their own", spacedRows],
  ["rows within a row", `[${Array.from({ length: 5 }, () => tree).join()}]`],
  ["rows of different kinds", rows.replaceAll(`${row},${row}`, `${row},{"other":[]},[{"id":1}],null,"},{",${row}`)],
  ["text that looks like rows", `[${row},{"id":"${`},{\\"id\\":`.repeat(80_000)}"},${row},${row}]`],
])("the items of a long list are those of JSON.parse: %s", async (_, text) => {
  const { value, turns } = await parsed(text);
  expect(value).toStrictEqual(JSON.parse(text));
  expect(turns).toBeGreaterThanOrEqual(1);
});

test("a long list with a changed character is JSON here if and only if it is JSON for JSON.parse", async () => {
  const start = seed();
  let state = start;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 4) % below;
  };
  for (let round = 0; round < scaled(100); round += 1) {
    const base = random(2) === 0 ? rows : spacedRows;
    const at = random(base.length);
    const text = base.slice(0, at) + '{}[]",:\\ 0'[random(10)] + base.slice(at + random(3));
    const { value } = await parsed(text);
    if (JSON.stringify(value) !== JSON.stringify(native(text)))
      expect.fail(`seed ${start}: ${text.slice(at - 40, at + 40)}`);
  }
});

test.each([["},{}"], ["},,{"], ["}, ,{"], ["},]"], ["}{"], ["},{]"], ["}],[{"]])(
  "a long list with a wrong separator is not JSON: %s",
  async (wrong) => {
    for (const at of [500, 1_000, 1_995]) {
      const items = Array.from({ length: 2_000 }, (_, index) =>
        index === at ? row.slice(0, -1) + wrong + row.slice(1) : row,
      );
      const text = `[${items.join()}]`;
      expect((await parsed(text)).value).toStrictEqual(native(text));
    }
  },
);

test.each([
  ["numbers", `[${"0,".repeat(100_000)}0]`],
  ["objects", `[${"{},".repeat(100_000)}0]`],
  ["nested lists", "[".repeat(100_000) + "]".repeat(100_000)],
  ["one long string", `"${"x".repeat(3_000_000)}"`],
  ["white space", `${" ".repeat(3_000_000)}1`],
])("a long text gives other code a turn again and again: %s", async (_, text) => {
  expect((await parsed(text)).turns).toBeGreaterThanOrEqual(3);
});

test.each([
  ["objects", `[${"{},".repeat(20_000)}0]`],
  ["lists", `[${"[],".repeat(40_000)}0]`],
  ["numbers", `[${"0,".repeat(50_000)}0]`],
  ["objects with a key of their own", `[${Array.from({ length: 10_000 }, (__, at) => `{"k${at}":0}`).join()}]`],
  ["one object with many keys", `{${Array.from({ length: 10_000 }, (__, at) => `"k${at}":0`).join()}}`],
  ["strings", `[${'"xxxx",'.repeat(40_000)}0]`],
])("values that take more memory than the limit are refused while they are read: %s", async (_, text) => {
  const refused = parseInSlices(text, { maxMemory: 1_000_000 });
  await expect(refused).rejects.toMatchObject({ code: "too_large" });
});

test("objects that share their keys take little more memory than their text", async () => {
  const rows = `[${Array.from({ length: 10_000 }, (_, at) => `{"id":${at},"name":"row ${at}"}`).join()}]`;
  expect(await parseInSlices(rows, { maxMemory: 6 * rows.length })).toHaveLength(10_000);
});
