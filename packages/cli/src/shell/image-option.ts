/** The option `--images` of commands whose results may contain images. */

import { type Command, Option } from "commander";
import { createImageDrawing, type DrawImage, imageProtocol } from "../output/reports/inline-image.ts";
import type { Context } from "./verb.ts";

export function defineImageOption(command: Command): void {
  command.addOption(
    new Option("--images <when>", "show images inline, where the terminal can (kitty, Ghostty, iTerm2, WezTerm)")
      .choices(["auto", "off"])
      .default("auto"),
  );
}

/** Returns how to draw images, or undefined if none are drawn. */
export function imageDrawing({
  command,
  globals,
  io,
}: Pick<Context, "command" | "globals" | "io">): DrawImage | undefined {
  const { images } = command.opts<{ readonly images: "auto" | "off" }>();
  const protocol = images === "auto" && !globals.json ? imageProtocol(io) : undefined;
  return protocol && createImageDrawing(protocol, io.stdout.columns);
}
