/** Records the names and declarations of a conversation's tools, so that a resumed conversation has the same ones. */

import type { Model } from "../../model/model.ts";
import type { Pin } from "../../normalise/tool-name.ts";
import { nextTurn } from "../../text/turns.ts";
import type { EarlierConversation, OfferedPlace, RecordChange } from "../record.ts";
import type { OwnNames } from "./own-functions.ts";

/** Writes changes of the tools' names and declarations into the recorded conversation. */
export interface ToolRecord {
  /** Records the names that are not recorded yet, with pauses for other code. */
  readonly names: (names: readonly Pin[], functions: OwnNames) => Promise<void>;
  /** Records the new declarations. If earlier declarations have changed, records all. */
  readonly offeredPlaces: (model: Model, offered: readonly OfferedPlace[]) => void;
}

/** One line of the recorded conversation has at most this many names. Writing it takes a few milliseconds. */
const namesPerLine = 1000;

/** Creates the record. `earlier` is what a resumed conversation has recorded already. */
export function createToolRecord(
  record: RecordChange,
  earlier: Pick<EarlierConversation, "names" | "functions" | "offered"> | undefined,
): ToolRecord {
  let recordedNames = earlier?.names.length ?? 0;
  let recordedFunctions: OwnNames = earlier?.functions ?? {};
  let recordedPlaces = earlier?.offered ?? [];

  return {
    async names(names, functions) {
      const isNew = functions !== recordedFunctions;
      recordedFunctions = functions;
      if (isNew || recordedNames < names.length) recordNext(names, isNew ? { functions } : {});
      while (recordedNames < names.length) {
        await nextTurn();
        recordNext(names, {});
      }
    },

    offeredPlaces({ provider }, offered) {
      if (provider === "manual") return;
      const isContinued = recordedPlaces.every((recordedPlace, at) => isSamePlace(recordedPlace, offered[at]));
      const from = isContinued ? recordedPlaces.length : 0;
      if (from < offered.length || !isContinued) record({ type: "offered", from, places: offered.slice(from) });
      recordedPlaces = [...offered];
    },
  };

  function recordNext(names: readonly Pin[], functions: { readonly functions?: OwnNames }): void {
    const tools = names.slice(recordedNames, recordedNames + namesPerLine);
    recordedNames += tools.length;
    record({ type: "names", tools, ...functions });
  }
}

function isSamePlace(one: OfferedPlace, other: OfferedPlace | undefined): boolean {
  if (other === undefined) return false;
  if ("function" in one) return "function" in other && one.function === other.function;
  return "server" in other && one.server === other.server && one.name === other.name;
}
