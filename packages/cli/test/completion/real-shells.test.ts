import { existsSync } from "node:fs";
import { join } from "node:path";
import { scaled } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { shells } from "../../src/completion/scripts.ts";
import { remembering } from "./remembered.ts";
import { openShell, present } from "./shell.ts";

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

// Some sixty times a shell asks, perhaps on a busy machine.
describe.each(shells)("%s", { timeout: 240_000 }, (shell) => {
  if (!present.has(shell)) {
    test.skip(`${shell} IS NOT INSTALLED HERE: its completion was not tested`);
    return;
  }

  test("completes what is typed, and quotes it", async () => {
    await using here = await remembering({ knots: tools, "my tools": tools, "a.b": tools });
    await using open = await openShell(shell, here);
    const cases: readonly (readonly [typed: string, words: readonly string[]])[] = [
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
    for (const [typed, words] of cases) {
      const got = await open.complete(typed);
      // Zsh takes the slash of a folder back when the line is sent.
      expect([typed, got.map((word) => word.replace(/\/$/, ""))]).toEqual([typed, words]);
    }
  });

  test("names that servers made up are words, whatever is in them", async () => {
    const named = hostile.map((name) => ({ name, inputSchema: anything }));
    const properties = Object.fromEntries(hostile.map((name) => [name, { enum: hostile }]));
    await using here = await remembering({
      evil: [...named, { name: "zzz", inputSchema: { type: "object", properties } }],
    });
    await using open = await openShell(shell, here);
    const ways: readonly ((name: string) => readonly [typed: string, words: readonly string[]])[] = [
      (name) => [`evil.${name.charAt(0)}`, [`evil.${name}`]],
      (name) => [`'evil.${name.charAt(0)}`, [`evil.${name}`]],
      (name) => [`"evil.${name.charAt(0)}`, [`evil.${name}`]],
      (name) => [`evil.zzz ${name.charAt(0)}`, ["evil.zzz", `${name}=`]],
      (name) => [`evil.zzz 'b\`touch CANARY\`='${name.charAt(0)}`, ["evil.zzz", `b\`touch CANARY\`=${name}`]],
    ];
    const tried = hostile.flatMap((name, at) => {
      const some = ways
        .slice(at % ways.length)
        .concat(ways)
        .slice(0, Math.ceil(scaled(ways.length * 10) / 10));
      return some.map((way) => way(name));
    });
    for (const [typed, words] of tried)
      expect([typed, await open.complete(`fairlead call ${typed}`)]).toEqual([typed, ["call", ...words]]);
    expect(existsSync(join(here.project, "CANARY"))).toBe(false);
  });

  test("what there is to choose from is listed, where the shell can with what it is", async () => {
    await using here = await remembering({ knots: tools, evil: [{ ...tools[0], description: trick }, tools[1] ?? {}] });
    await using open = await openShell(shell, here, "the command");
    const about = (text: string): string => (shell === "bash" ? "" : `[^\\n]*${text}`);
    await open.list("fairlead call knots.", new RegExp(`knots.greet${about("Says hello.")}`));
    await open.list("fairlead call knots.greet ", new RegExp(`who=${about("string, required, the person")}`));
    const shown = await open.list("fairlead call evil.", new RegExp(`evil.wave${about("Waves")}`));
    if (shell !== "bash") expect(shown).toMatch(/evil.greet[^\n]*␛\[31m %F\{red\} \$\(touch CANARY\) `touch CANARY`/);
    expect(existsSync(join(here.project, "CANARY"))).toBe(false);
  });

  test("a name that cannot be seen, or that would be an option, is not offered", async () => {
    const names = ["x\ntouch CANARY\n", "x\u001b[2J", "x\u202e", "x\ttab", "x\u0000", "xyz"];
    await using here = await remembering({
      "--yes": tools,
      "-x": tools,
      evil: [...names, "-rf"].map((name) => ({
        name,
        inputSchema: { type: "object", properties: { "--yes": {}, ok: {} } },
      })),
    });
    await using open = await openShell(shell, here);
    expect(await open.complete("fairlead call evil.x")).toEqual(["call", "evil.xyz"]);
    expect(await open.complete("fairlead call evil.xyz ")).toEqual(["call", "evil.xyz", "ok="]);
    expect(await open.complete("fairlead mcp get ")).toEqual(["mcp", "get", "evil"]);
    expect(await open.complete("fairlead call --server evil --tool ")).toEqual([
      "call",
      "--server",
      "evil",
      "--tool",
      "xyz",
    ]);
    expect(await open.complete("fairlead mcp get -- --y")).toEqual(["mcp", "get", "--", "--yes"]);
    expect(existsSync(join(here.project, "CANARY"))).toBe(false);
  });
});
