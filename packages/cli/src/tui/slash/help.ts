/** `/help`: lists all commands and keys. */

import { safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { table } from "../../output/output.ts";
import { promptKeys } from "../input/key-table.ts";
import type { BuiltIn } from "./command.ts";

export const help: BuiltIn = {
  name: "help",
  summary: "every command and every key",
  run(_words, { session }) {
    const commands = session
      .commands()
      .map(({ name, usage, summary }) => [
        safe`  ${toVisibleLine(`/${name}${usage === undefined ? "" : ` ${usage}`}`)}`,
        toVisibleLine(summary),
      ]);
    const manual = "Without a model, type calls: server.tool key=value …";
    session.show(
      "/help",
      [
        table(commands),
        "",
        table(promptKeys.map(([name, words]) => [safe`  ${toVisibleLine(name)}`, toVisibleLine(words)])),
        "",
        manual,
      ].join("\n"),
    );
  },
};
