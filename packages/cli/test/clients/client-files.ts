/** Thirty settings files a client, as people and programs write them: with comments, odd orders, line ends, and broken in many ways. */

import { type ClientName, clients } from "../../src/clients/client.ts";

export interface ClientFile {
  readonly title: string;
  /** Undefined: there is no file. */
  readonly text: string | Uint8Array | undefined;
  /** Whether `connect` must refuse the file. */
  readonly isRefused: boolean;
}

const [cr, tab, mark] = ["\r\n", "\t", "\uFEFF"];

export function clientFiles(client: ClientName): readonly ClientFile[] {
  const { syntax, key } = clients[client];
  switch (syntax) {
    case "toml":
      return tomlFiles();
    case "yaml":
      return yamlFiles();
    case "json":
    case "jsonc":
      return jsonFiles(key, syntax === "json");
  }
}

function jsonFiles(key: string, isStrict: boolean): readonly ClientFile[] {
  const good = (title: string, text: string | undefined): ClientFile => ({ title, text, isRefused: false });
  const bad = (title: string, text: string | Uint8Array): ClientFile => ({ title, text, isRefused: true });
  const commented = (title: string, text: string): ClientFile => ({ title, text, isRefused: isStrict });
  const server = { command: "npx", args: ["-y", "server-everything"], env: { KEY: "v$1" } };
  const plain = {
    theme: "dark",
    [key]: { files: server, git: { url: "https://example.com/mcp" } },
    last: [1, 2.5e3, null],
  };
  const pretty = JSON.stringify(plain, undefined, 2);
  const huge = {
    [key]: { files: server },
    history: Array.from({ length: 2_000 }, (_, at) => ({ at, text: `line ${at} ü` })),
  };
  return [
    good("no file", undefined),
    good("empty", ""),
    good("only blanks", " \n\n\t"),
    good("an empty object", "{}"),
    good("an empty object on two lines", "{\n}\n"),
    good("two blanks of indentation", `${pretty}\n`),
    good("four blanks of indentation", `${JSON.stringify(plain, undefined, 4)}\n`),
    good("tabs", `${JSON.stringify(plain, undefined, tab)}\n`),
    good("no line end at the end", pretty),
    good("CRLF", `${pretty}\n`.replaceAll("\n", cr)),
    good("CRLF and tabs, no line end", JSON.stringify(plain, undefined, tab).replaceAll("\n", cr)),
    good("a byte order mark", `${mark}${pretty}\n`),
    good("a byte order mark and CRLF", `${mark}${pretty}\n`.replaceAll("\n", cr)),
    good("one line", JSON.stringify(plain)),
    good(
      "servers first",
      JSON.stringify({ [key]: {}, z: { [key]: { fairlead: 1 } }, a: [{ [key]: [] }] }, undefined, 2),
    ),
    good(
      "unicode",
      `{ "ключ": "日本語 \\u00e9 😀", "${key}": { "séjour": ${JSON.stringify(server)} }, "\\ud83d\\ude00": "\u2028" }\n`,
    ),
    good("duplicate keys elsewhere", `{ "a": 1, "a": 2, "${key}": { "files": { "command": "x", "command": "y" } } }`),
    good("huge", `${JSON.stringify(huge, undefined, 1)}\n`),
    good(
      "names of prototypes",
      `{ "__proto__": { "x": 1 }, "${key}": { "__proto__": { "command": "x" }, "constructor": { "command": "y" } } }`,
    ),
    commented(
      "comments",
      `// mine\n{\n  /* servers */ "${key}": { // these\n    "files": { "command": "x" } // last\n  } // end\n}\n// bye`,
    ),
    commented("only comments", "// nothing yet\n/* at all */"),
    commented("trailing commas", `{\n  "${key}": {\n    "files": { "command": "x", },\n  },\n}\n`),
    bad("broken: a brace is missing", `{ "${key}": { "files": { "command": "x" }`),
    bad("broken: a word", `{ "${key}": oops }`),
    bad("an array", `[{ "${key}": {} }]`),
    bad("a string", `"${key}"`),
    bad("an array of servers", `{ "${key}": [{ "name": "fairlead" }] }`),
    bad("null for servers", `{\n  "${key}": null\n}`),
    bad("servers twice", `{ "${key}": {}, "x": 1, "${key}": { "files": { "command": "x" } } }`),
    bad("a server twice", `{ "${key}": { "files": { "command": "x" }, "files": { "command": "y" } } }`),
    bad("an entry of that name", `{ "${key}": { "fairlead": { "command": "other" } } }`),
    bad("not UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d])),
    bad("nested too deeply", `{ "x": ${"[".repeat(200)}${"]".repeat(200)} }`),
  ];
}

function tomlFiles(): readonly ClientFile[] {
  const good = (title: string, text: string | undefined): ClientFile => ({ title, text, isRefused: false });
  const bad = (title: string, text: string | Uint8Array): ClientFile => ({ title, text, isRefused: true });
  const plain = `model = "o3" # the best\n\n[mcp_servers.files] # mine\ncommand = "npx"\nargs = ["-y", "x"]\n\n[mcp_servers.files.env]\nKEY = "v"\n\n[profiles.a]\nmodel = 'x'\n`;
  const huge = Array.from({ length: 500 }, (_, at) => `[projects."/home/ü/${at}"]\ntrust_level = "trusted"\n`).join(
    "\n",
  );
  return [
    good("no file", undefined),
    good("empty", ""),
    good("only blanks", " \n\n\t"),
    good("only comments", "# nothing yet"),
    good("tables", plain),
    good("no line end at the end", plain.trimEnd()),
    good("several empty lines at the end", `${plain}\n\n\n`),
    good("CRLF", plain.replaceAll("\n", cr)),
    good("CRLF, no line end", plain.trimEnd().replaceAll("\n", cr)),
    good("a byte order mark", mark + plain),
    good("a byte order mark alone", mark),
    good("a byte order mark and CRLF", mark + plain.replaceAll("\n", cr)),
    good("comments everywhere", `# a\n[mcp_servers] # b\n# c\n[mcp_servers.x] # d\n# e\ncommand = "y" # f\n# g`),
    good(
      "a server after its own tables",
      `[mcp_servers.x.env]\nA = "1"\n[other]\na = 1\n[mcp_servers.x]\ncommand = "y"\n`,
    ),
    good("dotted keys in the servers' table", `[mcp_servers]\nx.command = "y"\nx.args = []\n`),
    good("inline servers in the servers' table", `[mcp_servers]\nx = { command = "y" }\n`),
    good("quoted keys", `["mcp_servers"."a b"]\ncommand = "y"\n['mcp_servers'.'c.d']\ncommand = "z"\n`),
    good("tabs and odd blanks", `\t[ mcp_servers . x ]\t\n\tcommand\t=\t"y"\t\n\t\n`),
    good(
      "multi-line strings and dates",
      `text = """\n[mcp_servers.fairlead]\n"""\nraw = '''\n# [x]\n'''\nat = 1979-05-27T07:32:00Z\nn = [1,\n 2, # two\n]\n`,
    ),
    good("unicode", `"ключ" = "日本語 \\u00e9 😀"\n[mcp_servers."séjour"]\ncommand = "ü"\n`),
    good("arrays of tables", `[[skills.config]]\na = 1\n[[skills.config]]\na = 2\n`),
    good("huge", huge),
    bad("inline servers", `mcp_servers = { x = { command = "y" } }\n`),
    bad("broken: no value", `model = \n`),
    bad("broken: an open bracket", `[mcp_servers.x\ncommand = "y"\n`),
    bad("a key twice", `model = "a"\nmodel = "b"\n`),
    bad("a table twice", `[mcp_servers.x]\ncommand = "a"\n[mcp_servers.x]\ncommand = "b"\n`),
    bad("a number for servers", `mcp_servers = 3\n`),
    bad("an array of servers", `[[mcp_servers]]\nname = "fairlead"\n`),
    bad("an entry of that name", `[mcp_servers.fairlead]\ncommand = "other"\n`),
    bad("an inline entry of that name", `[mcp_servers]\nfairlead = { command = "other" }\n`),
    bad("not UTF-8", Buffer.from([0x61, 0x3d, 0x22, 0xff, 0x22])),
    bad("UTF-16", Buffer.from(`${mark}a = 1\n`, "utf16le")),
  ];
}

function yamlFiles(): readonly ClientFile[] {
  const good = (title: string, text: string | undefined): ClientFile => ({ title, text, isRefused: false });
  const bad = (title: string, text: string | Uint8Array): ClientFile => ({ title, text, isRefused: true });
  const plain =
    "# mine\nGOOSE_PROVIDER: openai # the best\nextensions:\n  developer:\n    bundled: true\n    enabled: true\n    name: developer\n    timeout: 300\n    type: builtin\n  files: # these\n    type: stdio\n    cmd: npx\n    args:\n    - -y\n    - x\n    envs: { KEY: 'v' }\n\n# last\nGOOSE_MODEL: 'o3'\n";
  const huge = Array.from({ length: 2_000 }, (_, at) => `key${at}: "line ${at} ü"\n`).join("");
  const deep = `a: ${"[".repeat(200)}${"]".repeat(200)}\n`;
  const bomb = `a: &a [x, x]\n${"bcdefghij"
    .split("")
    .map((name, at) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${"abcdefghij"[at]}`).join(", ")}]\n`)
    .join("")}`;
  return [
    good("no file", undefined),
    good("empty", ""),
    good("only blanks", " \n\n"),
    good("only comments", "# nothing yet"),
    good("a document start", "---\n"),
    good("a document start and settings", `---\n${plain}`),
    good("mappings", plain),
    good("no line end at the end", plain.trimEnd()),
    good("several empty lines at the end", `${plain}\n\n\n`),
    good("CRLF", plain.replaceAll("\n", cr)),
    good("CRLF, no line end", plain.trimEnd().replaceAll("\n", cr)),
    good("a byte order mark", mark + plain),
    good("a byte order mark alone", mark),
    good("a byte order mark and CRLF", mark + plain.replaceAll("\n", cr)),
    good("no extensions", "GOOSE_MODEL: x\n"),
    good("no extensions, indented", "  GOOSE_MODEL: x\n  b: 1"),
    good("empty extensions", "a: 1\nextensions: {}\nb: 2\n"),
    good("empty extensions with a comment", "extensions: {  } # none yet"),
    good("extensions at the end", "a: 1\nextensions:\n    files:\n        cmd: x"),
    good("comments everywhere", "# a\nextensions: # b\n  # c\n  x: # d\n    # e\n    cmd: y # f\n    # g\n  # h\n# i"),
    good("an extension in braces", "extensions:\n  x: { cmd: y,\n    args: [a,\n     b] }\n  y: {cmd: z}\nb: 1\n"),
    good("quoted keys", `"extensions":\n  'a b': { cmd: y }\n  "c: d":\n    cmd: z\n`),
    good(
      "texts on several lines",
      "a: |\n  extensions:\n    fairlead: 1\nextensions:\n  x:\n    cmd: >-\n      y\n      z\n\nb: >\n  c\n\n",
    ),
    good("a text that keeps its line ends", "extensions:\n  x:\n    d: |+\n      y\n\n\n"),
    good("anchors, aliases and merges", "base: &b { enabled: true }\nextensions:\n  x: { <<: *b, cmd: y }\n  z: *b\n"),
    good("dates, numbers and null", "at: 2001-12-14t21:59:43.10-05:00\nn: 0x1F\nf: .inf\nm: .nan\ne:\nt: ~\n"),
    good("unicode", `"ключ": "日本語 \\u00e9 😀"\nextensions:\n  séjour:\n    cmd: ü\n`),
    good(
      "names of prototypes",
      "__proto__: { x: 1 }\nextensions:\n  __proto__: { cmd: x }\n  constructor: { cmd: y }\n",
    ),
    good("huge", huge),
    bad("an entry of that name", "extensions:\n  fairlead:\n    cmd: other\n"),
    bad("extensions in braces", "extensions: { x: { cmd: y } }\n"),
    bad("all in braces", '{ "extensions": { "x": { "cmd": "y" } } }'),
    bad("an anchor on the extensions", "extensions: &all\n  x: { cmd: y }\nother: *all\n"),
    bad("a tag on the extensions", "extensions: !!map\n  x: { cmd: y }\n"),
    bad("an explicit key", "? extensions\n: x: { cmd: y }\n"),
    bad("a list of extensions", "extensions:\n- name: fairlead\n"),
    bad("null for extensions", "extensions:\n"),
    bad("a list", "- a\n- b\n"),
    bad("a text", "extensions"),
    bad("extensions twice", "extensions: {}\na: 1\nextensions:\n  x: { cmd: y }\n"),
    bad("an extension twice", "extensions:\n  x: { cmd: y }\n  x: { cmd: z }\n"),
    bad("two documents", "a: 1\n---\nextensions: {}\n"),
    bad("tabs", "extensions:\n\tx:\n\t\tcmd: y\n"),
    bad("broken: an open bracket", "a: [1, 2\nextensions: {}\n"),
    bad("an alias without an anchor", "a: *b\n"),
    bad("aliases of aliases", bomb),
    bad("nested too deeply", deep),
    bad("nested far too deeply", `a: ${"[".repeat(100_000)}\n`),
    bad("too large", `a: "${"x".repeat(1_100_000)}"\n`),
    bad("not UTF-8", Buffer.from([0x61, 0x3a, 0x20, 0xff])),
  ];
}
