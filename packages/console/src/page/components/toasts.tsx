/** The notes at the edge of the page, and the one region that a screen reader reads out. */

import type { VNode } from "preact";
import { useApp } from "../app.ts";
import { useLive } from "../live.ts";
import { IconButton } from "./button.tsx";
import { NextLine } from "./notice.tsx";
import { Text } from "./text.tsx";

export function Toasts(): VNode {
  const { announcer } = useApp();
  const toasts = useLive(announcer.toasts);
  const announced = useLive(announcer.announced);
  return (
    <>
      <div class="visually-hidden" role="status" aria-live="polite">
        {announced}
      </div>
      <section class="toasts" aria-label="Notes">
        {toasts.map(({ id, kind, text, next }) => (
          <div key={id} class={`toast toast-${kind}`}>
            <div class="toast-text">
              <Text of={text} lines />
              {next !== undefined && <NextLine next={next} />}
            </div>
            <IconButton icon="close" label="Close this note" onPress={() => announcer.close(id)} />
          </div>
        ))}
      </section>
    </>
  );
}
