import { existsSync } from "node:fs";
import { join } from "node:path";
import { scaled } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Shell, shells } from "../../src/completion/scripts.ts";
import type { Machine } from "../support/machine.ts";
import { remember, remembering } from "../support/remembered.ts";
import { type OpenShell, openShells, present, type Shells } from "../support/shell.ts";

const anything = { type: "object" };
const tools = [
  {
    name: "greet",
    description: "Says hello.\nAnd more.",
    inputSchema: {
      type: "object",
      properties: {
        who: { type: "string", description: "the person" },
        tone: { enum: ["warm", "cool & dry", "it's"] },
        loud: { type: "boolean" },
      },
      required: ["who"],
    },
  },
  { name: "wave", title: "Waves", inputSchema: anything },
  { name: "two words", inputSchema: anything },
  { name: "uri:like=this", inputSchema: anything },
];

/** Each begins with a letter of its own: then one Tab is enough. */
const hostile = [
  "a$(touch CANARY)",
  "b`touch CANARY`",
  "c;touch CANARY",
  "d|touch CANARY",
  "e&touch CANARY&",
  "f>CANARY",
  "g'single'",
  'h"double"',
  "i!!",
  "j$HOME ${HOME}",
  "k*?[z]",
  "l~root",
  "m#comment",
  "n\\back\\",
  "o{a,b}",
  "p%(x)%F{red}",
  "q^x:y@z",
  "r é 漢字",
  "s<(touch CANARY)",
  "t$'\\x41'",
  "u  two blanks",
  "v\\$(touch CANARY)",
];

const trick = "\u001b[31m %F{red} $(touch CANARY) `touch CANARY`";

let here: Machine;
let open: Shells;

beforeAll(async () => {
  here = await remembering({});
  open = await openShells(here);
});

afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await here[Symbol.asyncDispose]();
});

/** The same for every shell that there is. */
function inEach(title: string, run: (open: OpenShell, shell: Shell) => Promise<void>): void {
  for (const shell of shells)
    if (present.has(shell))
      test(`${title}: ${shell}`, async () => {
        await run(open.of(shell), shell);
        expect(existsSync(join(here.project, "CANARY"))).toBe(false);
      });
    else test.skip(`${title}: ${shell} IS NOT INSTALLED HERE`);
}

const completed: readonly (readonly [typed: string, words: readonly string[]])[] = [
  ["fairlead mc", ["mcp"]],
  ["fairlead mcp disa", ["mcp", "disable"]],
  ["fairlead call --time", ["call", "--timeout"]],
  ["fairlead call --images=o", ["call", "--images=off"]],
  ["fairlead mcp get my", ["mcp", "get", "my tools"]],
  ["fairlead call kno", ["call", "knots."]],
  ["fairlead call knots.gr", ["call", "knots.greet"]],
  ["fairlead call a.b.gr", ["call", "a.b.greet"]],
  ["fairlead call knots.two", ["call", "knots.two words"]],
  ["fairlead call knots.uri", ["call", "knots.uri:like=this"]],
  ["fairlead call knots.uri:l", ["call", "knots.uri:like=this"]],
  ["fairlead call my\\ tools.gr", ["call", "my tools.greet"]],
  ["fairlead call 'my tools.gr", ["call", "my tools.greet"]],
  ['fairlead call "my tools.two', ["call", "my tools.two words"]],
  ["fairlead call knots.greet w", ["call", "knots.greet", "who="]],
  ["fairlead call knots.greet loud=t", ["call", "knots.greet", "loud=true"]],
  ["fairlead call knots.greet loud:=f", ["call", "knots.greet", "loud:=false"]],
  ["fairlead call knots.greet tone=c", ["call", "knots.greet", "tone=cool & dry"]],
  ["fairlead call knots.greet tone=i", ["call", "knots.greet", "tone=it's"]],
  ["fairlead call knots.greet who=@not", ["call", "knots.greet", "who=@notes one.txt"]],
  ["fairlead call knots.greet who:=@not", ["call", "knots.greet", "who:=@notes one.txt"]],
  ["fairlead --settings not", ["--settings", "notes one.txt"]],
  ["fairlead --settings=not", ["--settings=notes one.txt"]],
  ["fairlead -C fol", ["-C", "folder"]],
  ["fairlead -C not", ["-C", "not"]],
  ["fairlead read demo://ab", ["read", "demo://about"]],
  ["fairlead read @demo:demo://ab", ["read", "@demo:demo://about"]],
  ["fairlead prompt teach --arg kn", ["prompt", "teach", "--arg", "knot="]],
  ["fairlead mcp add files npx server fol", ["mcp", "add", "files", "npx", "server", "folder"]],
];

describe("servers and tools", () => {
  beforeAll(() => remember(here, { knots: tools, "my tools": tools, "a.b": tools }));

  inEach("what is typed is completed, and quoted", async ({ complete }) => {
    for (const [typed, words] of completed) {
      const got = await complete(typed);
      // Zsh takes the slash of a folder back when the line is sent.
      expect([typed, got.map((word) => word.replace(/\/$/, ""))]).toEqual([typed, words]);
    }
  });
});

/** How a person may begin to type a name, and the words that this becomes. */
const ways: readonly ((name: string) => readonly [typed: string, words: readonly string[]])[] = [
  (name) => [`evil.${name.charAt(0)}`, [`evil.${name}`]],
  (name) => [`'evil.${name.charAt(0)}`, [`evil.${name}`]],
  (name) => [`"evil.${name.charAt(0)}`, [`evil.${name}`]],
  (name) => [`evil.zzz ${name.charAt(0)}`, ["evil.zzz", `${name}=`]],
  (name) => [`evil.zzz 'b\`touch CANARY\`='${name.charAt(0)}`, ["evil.zzz", `b\`touch CANARY\`=${name}`]],
];

describe("names that servers made up", () => {
  const named = hostile.map((name) => ({ name, inputSchema: anything }));
  const properties = Object.fromEntries(hostile.map((name) => [name, { enum: hostile }]));
  beforeAll(() => remember(here, { evil: [...named, { name: "zzz", inputSchema: { type: "object", properties } }] }));

  const tried = hostile.flatMap((name, at) => {
    const some = ways.slice(at % ways.length).concat(ways);
    return some.slice(0, Math.ceil(scaled(ways.length * 10) / 10)).map((way) => way(name));
  });
  inEach("they are words, whatever is in them", async ({ complete }) => {
    for (const [typed, words] of tried)
      expect([typed, await complete(`fairlead call ${typed}`)]).toEqual([typed, ["call", ...words]]);
  });
});

/** What a shell shows beside a choice; Bash shows nothing there. */
const beside = (shell: Shell, text: string): string => (shell === "bash" ? "" : `[^\\n]*${text}`);

describe("a list", () => {
  beforeAll(() => remember(here, { knots: tools }));

  inEach("what there is to choose from is listed, where the shell can with what it is", async ({ list }, shell) => {
    await list("fairlead call knots.", new RegExp(`knots.greet${beside(shell, "Says hello.")}`));
    await list("fairlead call knots.greet ", new RegExp(`who=${beside(shell, "string, required, the person")}`));
  });
});

describe("the built command", () => {
  beforeAll(async () => {
    await remember(here, { evil: [{ ...tools[0], description: trick }, tools[1] ?? {}] });
    await open.answeredBy("the command");
  });
  afterAll(() => open.answeredBy("this process"));

  inEach("it answers the shell: choices are listed, and a description is text", async ({ list }, shell) => {
    const shown = await list("fairlead call evil.", new RegExp(`evil.wave${beside(shell, "Waves")}`));
    if (shell !== "bash") expect(shown).toMatch(/evil.greet[^\n]*␛\[31m %F\{red\} \$\(touch CANARY\) `touch CANARY`/);
  });
});

describe("a name that cannot be seen, or that would be an option", () => {
  const names = ["x\ntouch CANARY\n", "x\u001b[2J", "x\u202e", "x\ttab", "x\u0000", "xyz"];
  const inputSchema = { type: "object", properties: { "--yes": {}, ok: {} } };
  beforeAll(() =>
    remember(here, { "--yes": tools, "-x": tools, evil: [...names, "-rf"].map((name) => ({ name, inputSchema })) }),
  );

  inEach("it is not offered", async ({ complete }) => {
    const tool = ["call", "--server", "evil", "--tool"];
    expect(await complete("fairlead call evil.x")).toEqual(["call", "evil.xyz"]);
    expect(await complete("fairlead call evil.xyz ")).toEqual(["call", "evil.xyz", "ok="]);
    expect(await complete("fairlead mcp get ")).toEqual(["mcp", "get", "evil"]);
    expect(await complete(`fairlead ${tool.join(" ")} `)).toEqual([...tool, "xyz"]);
    expect(await complete("fairlead mcp get -- --y")).toEqual(["mcp", "get", "--", "--yes"]);
  });
});
