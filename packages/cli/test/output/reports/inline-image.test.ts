import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { createImageDrawing, imageProtocol } from "../../../src/output/reports/inline-image.ts";

const terminal = Object.assign(new PassThrough(), { isTTY: true });

describe("pictures are drawn only where that is known to work", () => {
  test.each([
    [{ TERM: "xterm-kitty", KITTY_WINDOW_ID: "1" }, "kitty"],
    [{ TERM: "xterm-256color", KITTY_WINDOW_ID: "1" }, "kitty"],
    [{ TERM: "xterm-ghostty", TERM_PROGRAM: "ghostty" }, "kitty"],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "ghostty" }, "kitty"],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" }, "iterm"],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "WezTerm" }, "iterm"],
    [{ TERM: "xterm-256color", LC_TERMINAL: "iTerm2" }, "iterm"],
    [{ TERM: "xterm-256color" }, undefined],
    [{}, undefined],
    [{ TERM: "dumb", TERM_PROGRAM: "iTerm.app" }, undefined],
    // One that was started from kitty inherits its variables.
    [{ TERM: "xterm-256color", TERM_PROGRAM: "vscode", KITTY_WINDOW_ID: "1" }, undefined],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "Apple_Terminal", LC_TERMINAL: "iTerm2" }, undefined],
    // Something in between.
    [{ TERM: "xterm-kitty", TMUX: "/tmp/tmux-1/default,1,0" }, undefined],
    [{ TERM: "xterm-kitty", STY: "1.pts" }, undefined],
    [{ TERM: "tmux-256color", TERM_PROGRAM: "tmux", KITTY_WINDOW_ID: "1" }, undefined],
    [{ TERM: "screen", TERM_PROGRAM: "iTerm.app" }, undefined],
  ])("%j: %s", (env, protocol) => {
    expect(imageProtocol({ stdout: terminal, env })).toBe(protocol);
    expect(imageProtocol({ stdout: new PassThrough(), env })).toBeUndefined();
  });
});

const png = Buffer.concat([
  Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
  Buffer.from([0, 0, 2, 0]),
  Buffer.alloc(7000, 1),
]);
const jpeg = Buffer.concat([Buffer.from("ffd8ff", "hex"), Buffer.alloc(10)]);
const gif = Buffer.from("GIF89a...");

/** With the two control characters that the protocols use made visible. */
function draw(protocol: "kitty" | "iterm", data: string, columns?: number): string | undefined {
  return createImageDrawing(
    protocol,
    columns,
  )({ what: "image", mimeType: "text/plain", data })
    ?.replaceAll("\u001b", "␛")
    .replaceAll("\u0007", "␇");
}

describe("kitty", () => {
  test("a PNG comes in pieces, and the terminal is asked not to answer", () => {
    const drawn = draw("kitty", png.toString("base64")) ?? "";
    const pieces = drawn.split("␛\\").slice(0, -1);
    expect(pieces.map((piece) => /^␛_G([^;]*);/.exec(piece)?.[1])).toEqual(["a=T,f=100,q=2,m=1", "m=1", "m=0"]);
    const data = pieces.map((piece) => piece.slice(piece.indexOf(";") + 1));
    expect(data.map(({ length }) => length)).toEqual([4096, 4096, 1168]);
    expect(Buffer.from(data.join(""), "base64")).toEqual(png);
  });

  test("one that is wider than the terminal is made to fit", () => {
    expect(draw("kitty", png.toString("base64"), 80)).toMatch(/^␛_Ga=T,f=100,q=2,c=80,m=1;/);
    expect(draw("kitty", png.toString("base64"), 100)).toMatch(/^␛_Ga=T,f=100,q=2,m=1;/);
  });

  test.each([jpeg, gif])("it knows no other kind", (bytes) => {
    expect(draw("kitty", bytes.toString("base64"))).toBeUndefined();
  });
});

test.each([png, jpeg, gif])("iTerm2 gets the file as it is", (bytes) => {
  const [, size, data = ""] =
    /^␛\]1337;File=inline=1;size=(\d+);preserveAspectRatio=1:([\w+/=]*)␇$/.exec(
      draw("iterm", bytes.toString("base64")) ?? "",
    ) ?? [];
  expect([Number(size), Buffer.from(data, "base64")]).toEqual([bytes.length, bytes]);
});

describe("nothing of a server reaches the terminal as it is", () => {
  test.each(["kitty", "iterm"] as const)("%s: what is no picture is not drawn", (protocol) => {
    const data = ["", "\u001b[2J", Buffer.from("\u001b[2J").toString("base64"), "A".repeat(20_000_000)];
    expect(data.map((one) => draw(protocol, one))).toEqual(data.map(() => undefined));
  });

  test.each(["kitty", "iterm"] as const)("%s: what stands between the digits of base64 is gone", (protocol) => {
    const clean = png.toString("base64");
    const sly = `${clean.slice(0, 40)}\u001b\\\u0007\u001b[2J;${clean.slice(40)}`;
    const drawn = draw(protocol, sly) ?? "";
    expect(drawn).not.toContain("[2J");
    expect(drawn.replaceAll(/␛_G[\w=,]*;|␛\\|␛\]1337;[^:]*:|␇$/g, "")).toMatch(/^[\w+/=]+$/);
  });
});
