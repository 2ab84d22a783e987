/** The prompt with the typed text and the cursor. */

import { type SafeText, safe } from "@fairlead/core/text/safe-text";
import type { ReactElement } from "react";
import type { Editor } from "../input/editor.ts";
import { type InputRow, layoutInput } from "../input/layout.ts";
import { type Line, span } from "./line.ts";
import { Lines } from "./lines.tsx";

export interface TextInputProps {
  readonly editor: Editor;
  /** Whether keys go here. */
  readonly isActive: boolean;
  /** A question has just appeared: keys are ignored for a moment. */
  readonly isPaused: boolean;
  readonly width: number;
  readonly height: number;
}

/** `› ` before the first row, or `… `. */
const margin = 2;

export function TextInput({ editor, isActive, isPaused, width, height }: TextInputProps): ReactElement {
  const { rows, above, below } = layoutInput(editor, Math.max(1, width - margin), height);
  const mark = isPaused ? safe`… ` : safe`› `;
  return (
    <Lines
      lines={[
        ...(above > 0 ? [[span(safe`  … ${above} more above`, { isDim: true })]] : []),
        ...rows.map((row, at) => rowLine(row, at + above === 0 ? mark : safe`  `, isActive)),
        ...(below > 0 ? [[span(safe`  … ${below} more below`, { isDim: true })]] : []),
      ]}
    />
  );
}

function rowLine({ before, under, after }: InputRow, mark: SafeText, isActive: boolean): Line {
  return [
    span(mark, { isBold: isActive }),
    span(before),
    ...(under === undefined ? [] : [span(under, { isInverse: isActive })]),
    span(after),
  ];
}
