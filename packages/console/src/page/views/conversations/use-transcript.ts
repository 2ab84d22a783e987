/** Follows a conversation: what was said so far, and then each event of its turns, each once. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Result } from "../../../protocol/commands.ts";
import type { ConsoleEvent } from "../../../protocol/events.ts";
import { type Loaded, useApp, useCommand } from "../../app.ts";
import { Transcript } from "./transcript.ts";

type TurnEvent = Extract<ConsoleEvent, { readonly type: "turn" }>;

/** @param id The conversation. Undefined: a new one, which has no messages. */
export function useTranscript(
  id: string | undefined,
  limit: number,
): { readonly transcript: Transcript; readonly shown: Loaded<Result<"chat/show">> } {
  const { store, announcer } = useApp();
  const transcript = useMemo(() => new Transcript(store.flusher), [id, store]);
  const shown = useCommand("chat/show", id === undefined ? undefined : { conversation: id, limit });
  /** The number of the last event that the transcript contains. Undefined: nothing was read yet. */
  const last = useRef<number | undefined>(undefined);
  const waiting = useRef<readonly TurnEvent[]>([]);
  const reload = useRef(shown.reload);
  reload.current = shown.reload;
  useEffect(() => {
    last.current = undefined;
    waiting.current = [];
    const take = (turn: TurnEvent): void => {
      if (turn.number <= (last.current ?? 0)) return;
      last.current = turn.number;
      transcript.add(turn.event);
      if (turn.event["type"] === "done") announcer.say("The model has answered");
      if (turn.event["type"] === "error") announcer.say("The turn has failed");
    };
    const stops = [
      store.onEvent("turn", (turn) => {
        if (turn.conversation !== id || turn.event["type"] === "progress") return;
        if (turn.event["type"] === "reload") reload.current();
        else if (last.current === undefined) waiting.current = [...waiting.current, turn];
        else take(turn);
      }),
      // Events of turns were lost.
      store.onEvent("snapshot", () => reload.current()),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [id, store, announcer, transcript]);
  const { value } = shown;
  useEffect(() => {
    if (value === undefined) return;
    transcript.replace(value.events, value.isRunning);
    last.current = value.number;
    for (const { number, event } of waiting.current) if (number > value.number) transcript.add(event);
    last.current = Math.max(value.number, ...waiting.current.map(({ number }) => number));
    waiting.current = [];
    store.flusher.flush();
  }, [value, transcript, store]);
  return { transcript, shown };
}
