/**
 * The program text at the end of every file that `fairlead generate cli` writes. It uses `server` and `tools`, which
 * the file defines before it.
 */

/** The `import` lines of a file that `fairlead generate cli` writes. */
export const commandImports = `import { basename } from "node:path";
import { parseArgs } from "node:util";
import { createHost, exitCodeOf, HostError } from "@fairlead/core";
import { toSafeJson, toSafeLine, toSafeText } from "@fairlead/core/text";`;

/** Names of the program's own options. A parameter with such a name can only be given with `--args`. */
export const programOptions: ReadonlySet<string> = new Set(["args", "help", "json", "yes"]);

/** The program text. It joins strings with `+`, because a template inside this template would need escapes. */
export const commandProgram: string = String.raw`const program = basename(process.argv[1]);
const own = {
  args: { type: "string" },
  help: { type: "boolean", short: "h" },
  json: { type: "boolean" },
  yes: { type: "boolean" },
};

/** Converts the words of a flag to values. The host checks the values against the tool's schema. */
const readers = {
  flag: (value) => value,
  text: (word) => word,
  number: (word) => (word.trim() === "" || Number.isNaN(Number(word)) ? word : Number(word)),
  any(word) {
    try {
      return JSON.parse(word);
    } catch {
      return word;
    }
  },
};

function optionsOf({ flags }) {
  return Object.fromEntries(
    flags.map(({ name, kind, list }) => [name, { type: kind === "flag" ? "boolean" : "string", multiple: list === true }]),
  );
}

function parse(tool, words) {
  try {
    return parseArgs({ args: words, options: { ...optionsOf(tool), ...own }, allowNegative: true }).values;
  } catch (error) {
    throw new HostError("usage", error.message, { next: program + " " + tool.name + " --help" });
  }
}

function argumentsOf({ flags }, values) {
  const given = flags.filter(({ name }) => values[name] !== undefined);
  const typed = given.map(({ name, kind, list }) => [name, list ? values[name].map(readers[kind]) : readers[kind](values[name])]);
  return { ...readWhole(values.args), ...Object.fromEntries(typed) };
}

function readWhole(text = "{}") {
  const value = readers.any(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new HostError("usage", "--args is not a JSON object");
}

function overview() {
  const width = Math.max(...tools.map(({ name }) => name.length));
  const lines = tools.map(({ name, about }) => "  " + toSafeLine(name.padEnd(width)) + "  " + toSafeLine(about.split("\n")[0]));
  return ["Tools of " + toSafeLine(server) + ":", ...lines, "", "Flags of a tool: " + program + " TOOL --help"].join("\n");
}

function help({ name, about, flags, others }) {
  const lines = flags.map(({ name: flag, kind, list, required, about: words }) => {
    const value = kind === "flag" ? "" : kind === "text" ? " TEXT" : kind === "number" ? " NUMBER" : " JSON";
    const notes = [required ? "required" : "", list ? "repeatable" : "", toSafeLine(words)].filter((note) => note !== "");
    return "  --" + flag + value + (notes.length === 0 ? "" : "  " + notes.join("; "));
  });
  return [
    toSafeText(name + "\n" + about).trimEnd(),
    "",
    ...lines,
    "  --args JSON  all arguments as one JSON object" + (others.length === 0 ? "" : "; the only way to give " + others.map(toSafeLine).join(", ")),
    "  --json  print one JSON document",
    "  --yes  confirm the call in advance",
  ].join("\n");
}

function textOf({ content, structuredContent }) {
  if (content.length === 0) return structuredContent === undefined ? "" : toSafeJson(structuredContent);
  return content.map((block) => toSafeText(block.text ?? block.resource?.text ?? "[" + block.type + " " + (block.mimeType ?? "") + "]")).join("\n");
}

async function callTool(tool, values) {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  const args = argumentsOf(tool, values);
  const host = await createHost();
  try {
    return await host.call(server, tool.name, args, { signal: stop.signal, ...(values.yes && { confirmed: "in_advance" }) });
  } finally {
    await host[Symbol.asyncDispose]();
  }
}

async function main([name, ...words]) {
  if (name === undefined || name === "--help" || name === "-h") return console.log(overview());
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new HostError("tool_unknown", '"' + name + '" is no tool of ' + server, { next: program + " --help" });
  const values = parse(tool, words);
  if (values.help) return console.log(help(tool));
  const result = await callTool(tool, values);
  const { content, structuredContent, warnings, isError } = result;
  const error = isError ? new HostError("tool_error", server + "." + tool.name + " reported an error") : undefined;
  if (values.json)
    console.log(toSafeJson({ schemaVersion: 1, ok: !isError, server, tool: tool.name, content, structuredContent, warnings, error: error && { code: error.code, message: error.message } }));
  else if (textOf(result) !== "") console.log(textOf(result));
  if (error !== undefined) throw Object.assign(error, { isPrinted: values.json });
}

function fail(error) {
  if (!(error instanceof HostError)) throw error;
  const { code, message, next } = error;
  process.exitCode = exitCodeOf(code);
  if (error.isPrinted) return;
  if (process.argv.includes("--json")) return console.log(toSafeJson({ schemaVersion: 1, ok: false, server, error: { code, message, next } }));
  console.error("error: " + toSafeLine(message));
  if (next !== undefined) console.error("  next: " + toSafeLine(next));
}

process.stdout.on("error", () => process.exit());
await main(process.argv.slice(2)).catch(fail);
`;
