/** Takes `fairlead.servers.NAME` along with an entry: what was said about one server must not pass to the next of its name. */

import { updateText } from "@fairlead/core/files/atomic/update-text";
import { removeValue } from "@fairlead/core/files/json/json-edit";
import { parseJsonc } from "@fairlead/core/files/json/jsonc";
import { childOf, plainValueOf } from "@fairlead/core/settings/read/nodes";
import type { Destination } from "./add/destination.ts";

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
