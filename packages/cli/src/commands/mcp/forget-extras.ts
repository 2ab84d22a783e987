/** Takes `fairlead.servers.NAME` along with an entry: what was said about one server must not pass to the next of its name. */

import { removeValue } from "@fairlead/core/files/json-edit";
import { parseJsonc } from "@fairlead/core/files/jsonc";
import { updateText } from "@fairlead/core/files/update-text";
import { childOf, plainValueOf } from "@fairlead/core/settings/nodes";
import type { Destination } from "./destination.ts";

/** Answers what was there; the file is one that has just been edited, and so can be. */
export async function forgetExtras(name: string, { file, edit }: Destination): Promise<unknown> {
  const path = ["fairlead", "servers", name];
  let forgotten: unknown;
  const forget = (text: string | undefined): string | undefined => {
    const node = childOf(parseJsonc(text ?? "").root, ...path);
    forgotten = node && plainValueOf(node);
    return text === undefined || node === undefined ? undefined : removeValue(text, path);
  };
  await updateText(file, forget, edit);
  return forgotten;
}
