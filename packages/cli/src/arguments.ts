/** A tool's arguments, from wherever the person gave them: `key=value` words, `--args`, or stdin. */

import { resolve } from "node:path";
import { addAbortSignal } from "node:stream";
import { HostError } from "@fairlead/core/errors";
import { readText } from "@fairlead/core/files/read-text";
import { limits } from "@fairlead/core/limits";
import { safe } from "@fairlead/core/text/safe-text";
import { coerce, parseJson } from "./coerce.ts";
import type { Io } from "./io.ts";
import type { Output } from "./output/output.ts";

export interface GivenArguments {
  readonly words: readonly string[];
  /** `--args`. */
  readonly json: string | undefined;
}

interface Streams {
  readonly io: Io;
  readonly out: Output;
}

export async function readArguments(given: GivenArguments, schema: object, { io, out }: Streams): Promise<unknown> {
  const fromStdin = given.words.includes("-");
  const words = given.words.filter((word) => word !== "-");
  if (Number(fromStdin) + Number(given.json !== undefined) + Number(words.length > 0) > 1)
    throw new HostError(
      "usage",
      "arguments come as key=value words, from --args or from stdin (-), not from several of these",
    );
  if (fromStdin && io.stdin.isTTY === true) out.say(safe`Type the arguments as JSON; Ctrl-D ends them.`);
  if (fromStdin) return wholeJson(await readAll(io), "stdin");
  if (given.json !== undefined) return wholeJson(given.json, "--args");
  return Object.fromEntries(await readWords(words, schema, io));
}

function wholeJson(text: string, source: string): unknown {
  const parsed = parseJson(text);
  if (parsed.kind === "mistake") throw new HostError("arguments_invalid", `${source} ${parsed.reason}`);
  return parsed.value;
}

async function readWords(words: readonly string[], schema: object, io: Io): Promise<ReadonlyMap<string, unknown>> {
  const properties = new Map<string, unknown>(Object.entries(new Map(Object.entries(schema)).get("properties") ?? {}));
  const values = new Map<string, unknown>();
  for (const word of words) {
    const { key, text, isJson } = splitWord(word);
    if (values.has(key)) throw new HostError("usage", `"${key}" is given twice`);
    const content = text.startsWith("@") ? await readFile(key, text.slice(1), io) : text;
    const read = isJson ? parseJson(content) : coerce(content, properties.get(key));
    if (read.kind === "mistake") throw new HostError("arguments_invalid", `${key} ${read.reason}`);
    values.set(key, read.value);
  }
  return values;
}

function splitWord(word: string): { readonly key: string; readonly text: string; readonly isJson: boolean } {
  const at = word.indexOf("=");
  const isJson = word[at - 1] === ":";
  const key = word.slice(0, isJson ? at - 1 : Math.max(at, 0));
  if (key === "")
    throw new HostError("usage", `"${word}" is not an argument`, {
      next: "write key=value, key:=json, or --args JSON",
    });
  return { key, text: word.slice(at + 1), isJson };
}

async function readFile(key: string, path: string, { cwd }: Io): Promise<string> {
  const file = await readText(resolve(cwd, path), limits.argumentBytes);
  if (file.kind === "text") return file.text;
  const reason = file.kind === "absent" ? "it is not there" : file.reason;
  const itself = JSON.stringify(`@${path}`);
  throw new HostError("usage", `${key}: the file ${path} cannot be read: ${reason}`, {
    next: `to pass the text itself: ${key}:='${itself}'`,
  });
}

async function readAll({ stdin, signal }: Io): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of addAbortSignal(signal, stdin) as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > limits.argumentBytes)
      throw new HostError("too_large", `stdin has more than ${limits.argumentBytes} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}
