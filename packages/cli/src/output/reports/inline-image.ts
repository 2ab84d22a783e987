/** Draws images in the terminal, with the protocols of kitty and iTerm2. */

import { joinSafe, type SafeText, safe, sliceSafe, toSafeLine } from "@fairlead/core/text/safe-text";
import { type Command, Option } from "commander";
import type { Media } from "../../shell/save-media.ts";
import type { Context, Io } from "../../shell/verb.ts";

/** The escape sequences with which the terminal draws images. */
export type ImageProtocol = "kitty" | "iterm";

/** Returns the escape sequence that draws the image, or undefined if the terminal cannot draw it. */
export type DrawImage = (media: Media) => SafeText | undefined;

const byTerm: ReadonlyMap<string, ImageProtocol> = new Map([
  ["xterm-kitty", "kitty"],
  ["xterm-ghostty", "kitty"],
]);
const byProgram: ReadonlyMap<string, ImageProtocol> = new Map([
  ["ghostty", "kitty"],
  ["iTerm.app", "iterm"],
  ["WezTerm", "iterm"],
]);

/**
 * Recognises the terminal by environment variables. Sends no query to the terminal, because the reply would arrive as
 * typed input.
 */
export function imageProtocol({ stdout, env }: Pick<Io, "stdout" | "env">): ImageProtocol | undefined {
  const { TERM: term = "", TERM_PROGRAM: program } = env;
  // tmux and screen would print the image data as text.
  const isBetween = Boolean(env["TMUX"] ?? env["STY"]) || /^(?:screen|tmux)/.test(term);
  if (stdout.isTTY !== true || isBetween || term === "dumb") return undefined;
  const protocol = byTerm.get(term) ?? byProgram.get(program ?? "");
  if (protocol !== undefined) return protocol;
  // A terminal started from kitty inherits KITTY_WINDOW_ID, but sets TERM_PROGRAM to its own name.
  if (program === undefined && env["KITTY_WINDOW_ID"] !== undefined) return "kitty";
  return env["LC_TERMINAL"] === "iTerm2" && program === undefined ? "iterm" : undefined;
}

/** The first bytes of each image format. The type that a server claims is ignored. */
const signatures: readonly (readonly [kind: "png" | "jpeg" | "gif", start: Buffer])[] = [
  ["png", Buffer.from("89504e470d0a1a0a", "hex")],
  ["jpeg", Buffer.from("ffd8ff", "hex")],
  ["gif", Buffer.from("GIF8")],
];
const mostBytes = 8_000_000;

/** Returns a function that draws images. `columns` is the terminal's width. */
export function createImageDrawing(protocol: ImageProtocol, columns = 0): DrawImage {
  return ({ what, data }) => {
    if (what === "audio" || data.length > mostBytes * 2) return undefined;
    const bytes = Buffer.from(data, "base64");
    const kind = signatures.find(([, start]) => bytes.subarray(0, start.length).equals(start))?.[0];
    if (kind === undefined || bytes.length > mostBytes) return undefined;
    if (protocol === "iterm") return iterm(bytes);
    // kitty's protocol accepts only PNG files.
    return kind === "png" ? kitty(bytes, columns) : undefined;
  };
}

const chunkSize = 4096;

/**
 * Draws an image with kitty's protocol. Encodes the image again, so that the base64 text cannot contain escape
 * sequences from the server.
 */
function kitty(png: Buffer, columns: number): SafeText {
  const encoded = toSafeLine(png.toString("base64"));
  const chunks = Array.from({ length: Math.ceil(encoded.length / chunkSize) }, (_, at) =>
    sliceSafe(encoded, at * chunkSize, (at + 1) * chunkSize),
  );
  const commands = chunks.map((chunk, at) => {
    const start = at === 0 ? safe`a=T,f=100,q=2${scaled(png, columns)},` : safe``;
    return safe`\u001b_G${start}m=${at === chunks.length - 1 ? 0 : 1};${chunk}\u001b\\`;
  });
  return joinSafe(commands, safe``);
}

/** Assumed minimum width of a terminal cell, in pixels, to estimate whether an image is wider than the terminal. */
const narrowestCell = 6;

function scaled(png: Buffer, columns: number): SafeText {
  const pixels = png.length >= 20 ? png.readUInt32BE(16) : 0;
  return columns > 0 && pixels > columns * narrowestCell ? safe`,c=${columns}` : safe``;
}

function iterm(bytes: Buffer): SafeText {
  const encoded = toSafeLine(bytes.toString("base64"));
  return safe`\u001b]1337;File=inline=1;size=${bytes.length};preserveAspectRatio=1:${encoded}\u0007`;
}

/** Adds the option `--images` to a command whose results may contain images. */
export function defineImageOption(command: Command): void {
  command.addOption(
    new Option("--images <when>", "show images inline, if the terminal can (kitty, Ghostty, iTerm2, WezTerm)")
      .choices(["auto", "off"])
      .default("auto"),
  );
}

/** Returns a function that draws images. Undefined for `--images off`, `--json` or a terminal without images. */
export function imageDrawing({
  command,
  globals,
  io,
}: Pick<Context, "command" | "globals" | "io">): DrawImage | undefined {
  const { images } = command.opts<{ readonly images: "auto" | "off" }>();
  const protocol = images === "auto" && !globals.json ? imageProtocol(io) : undefined;
  return protocol && createImageDrawing(protocol, io.stdout.columns);
}
