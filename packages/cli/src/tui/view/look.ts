/** What the views are told about the terminal: whether it has colours, what highlights code, what draws pictures. */

import { type Context, createContext } from "react";
import type { DrawImage } from "../../output/reports/inline-image.ts";
import type { Highlighter } from "./markdown/highlighter.ts";

export interface Look {
  readonly hasColour: boolean;
  readonly highlighter?: Highlighter;
  /** For a terminal that can show pictures. */
  readonly draw?: DrawImage;
}

export const LookContext: Context<Look> = createContext<Look>({ hasColour: true });
