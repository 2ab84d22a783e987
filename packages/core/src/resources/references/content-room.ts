/** Shares one size limit between all contents of a prompt: earlier contents get more of it. */

import type { Block } from "@fairlead/wire";
import { byteLength } from "../../normalise/content/base64.ts";
import { type ContentLimits, contentLimits, type Fitted, fitBlocks } from "../../normalise/content/fit.ts";

/** The remaining size limit. */
export interface ContentRoom {
  /**
   * Fits blocks into the remaining room.
   *
   * @param giver The name of the source, for notes about what was left out.
   */
  readonly fit: (blocks: readonly Block[], giver: string) => Fitted;
}

/** Creates the size limit of one prompt. */
export function createContentRoom(limits: Partial<ContentLimits> = {}): ContentRoom {
  let { partCharacters, totalCharacters, inlineBytes, blocks: most } = { ...contentLimits, ...limits };
  return {
    fit(blocks, giver) {
      const fitted = fitBlocks(blocks, giver, { partCharacters, totalCharacters, inlineBytes, blocks: most });
      for (const { text = "", inlineData } of fitted.parts) {
        totalCharacters -= text.length;
        inlineBytes -= byteLength(inlineData?.data ?? "");
      }
      most = Math.max(0, most - blocks.length);
      return fitted;
    },
  };
}
