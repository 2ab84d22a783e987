/** Writes and sends a message of a conversation. Enter sends it, Shift+Enter begins a new line. */

import type { RefObject, VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import type { CommandError } from "../../api.ts";
import { toCommandError } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { Failure } from "../../components/notice.tsx";

export interface ComposerProps {
  readonly box: RefObject<HTMLTextAreaElement | null>;
  readonly isRunning: boolean;
  /** Rejects if the message was not sent: it then stays in the box. */
  readonly onSend: (text: string) => Promise<void>;
  readonly onStop: () => Promise<unknown>;
}

export function Composer({ box, isRunning, onSend, onStop }: ComposerProps): VNode {
  const [text, setText] = useState("");
  const [error, setError] = useState<CommandError>();
  const isSending = useRef(false);
  const why = isRunning ? "the model is answering" : text.trim() === "" ? "write a message first" : undefined;
  const send = async (): Promise<void> => {
    if (why !== undefined || isSending.current) return;
    isSending.current = true;
    setError(undefined);
    try {
      await onSend(text);
      // What was written meanwhile stays.
      setText((now) => (now === text ? "" : now));
      box.current?.focus();
    } catch (problem) {
      setError(toCommandError(problem));
    } finally {
      isSending.current = false;
    }
  };
  return (
    <form
      class="composer"
      aria-label="Your message"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {error !== undefined && <Failure error={error} />}
      <textarea
        ref={box}
        aria-label="Message"
        aria-describedby="composer-hint"
        rows={Math.min(10, Math.max(2, text.split("\n").length))}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          // While an input method composes a character, Enter belongs to it.
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void send();
        }}
      />
      <div class="composer-line">
        <p class="muted" id="composer-hint">
          {isRunning ? (
            "The model is answering: what you write can be sent afterwards."
          ) : (
            <>
              <kbd>Enter</kbd> sends. <code>@server://…</code> adds a resource, <code>/prompt</code> uses a prompt.
            </>
          )}
        </p>
        {isRunning ? (
          <Button icon="stop" onPress={onStop}>
            Stop
          </Button>
        ) : (
          <Button kind="primary" onPress={send} disabledBecause={why}>
            Send
          </Button>
        )}
      </div>
    </form>
  );
}
