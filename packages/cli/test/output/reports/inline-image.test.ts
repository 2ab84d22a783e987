import { PassThrough } from "node:stream";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import {
  createImageDrawing,
  defineImageOption,
  imageDrawing,
  imageProtocol,
} from "../../../src/output/reports/inline-image.ts";
import { writtenOutput } from "../../support/written-output.ts";

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

describe("a picture is drawn only up to a size, and only if it is one", () => {
  const drawn = (what: "image" | "audio" | "resource", bytes: Buffer): boolean =>
    createImageDrawing("iterm")({ what, mimeType: "image/gif", data: bytes.toString("base64") }) !== undefined;

  test("sound is never drawn", () => {
    expect([drawn("image", gif), drawn("resource", gif), drawn("audio", gif)]).toEqual([true, true, false]);
  });

  test("more than 8 000 000 bytes are not drawn", () => {
    expect(drawn("image", Buffer.concat([gif, Buffer.alloc(8_000_001 - gif.length)]))).toBe(false);
  });

  test("a PNG that ends before its width is not scaled", () => {
    const short = png.subarray(0, 19).toString("base64");
    expect(draw("kitty", short, 1)).toBe(`␛_Ga=T,f=100,q=2,m=0;${short}␛\\`);
    const whole = png.subarray(0, 20).toString("base64");
    expect(draw("kitty", whole, 1)).toBe(`␛_Ga=T,f=100,q=2,c=1,m=0;${whole}␛\\`);
  });

  test("a PNG of exactly the terminal's width is not scaled", () => {
    const exact = Buffer.concat([png.subarray(0, 16), Buffer.from([0, 0, 0, 60])]).toString("base64");
    expect(draw("kitty", exact, 10)).not.toContain("c=10");
    expect(draw("kitty", exact, 9)).toContain(",c=9,");
  });
});

describe("the user decides with --images", () => {
  const env = { TERM: "xterm-kitty" };

  function drawing(argv: readonly string[], given: Parameters<typeof writtenOutput>[0] = {}) {
    const command = new Command("x").exitOverride().configureOutput({ writeErr: () => {} });
    defineImageOption(command);
    command.parse([...argv], { from: "user" });
    const { context } = writtenOutput({ isTTY: true, env, ...given });
    Object.assign(context.io.stdout, { columns: 10 });
    return imageDrawing({ ...context, command });
  }

  test("whether pictures are drawn", () => {
    const media = { what: "image", mimeType: "image/png", data: png.toString("base64") } as const;
    expect(drawing([])?.(media)).toContain(",c=10,");
    expect(drawing(["--images", "auto"])).toBeDefined();
    expect(drawing(["--images", "off"])).toBeUndefined();
    expect(drawing([], { json: true })).toBeUndefined();
    expect(drawing([], { isTTY: false })).toBeUndefined();
    expect(() => drawing(["--images", "x"])).toThrow("Allowed choices are auto, off.");
  });
});
