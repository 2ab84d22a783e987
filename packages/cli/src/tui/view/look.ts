/** What the views know about the terminal: colours, code highlighting, image drawing. */

import { type Context, createContext } from "react";
import type { DrawImage } from "../../output/reports/inline-image.ts";
import type { Highlighter } from "./markdown/highlighter.ts";

export interface Look {
  readonly hasColour: boolean;
  readonly highlighter?: Highlighter;
  /** Set if the terminal can draw images. */
  readonly draw?: DrawImage;
}

export const LookContext: Context<Look> = createContext<Look>({ hasColour: true });
