/** Collects what a channel reports, and lets a test wait for it. */

import type { WireError } from "../../src/errors.ts";
import type { ChannelEvents, RpcMessage } from "../../src/rpc/channel.ts";

export interface Recorder extends ChannelEvents {
  readonly messages: RpcMessage[];
  readonly diagnostics: string[];
  /** Resolves when the channel says that it is over. */
  readonly over: Promise<WireError | undefined>;
  /** Resolves when so many messages have come. */
  received(count: number): Promise<void>;
}

export function recorder(): Recorder {
  const messages: RpcMessage[] = [];
  const diagnostics: string[] = [];
  const waiting: { count: number; go: () => void }[] = [];
  let end: (cause: WireError | undefined) => void = () => {};
  const over = new Promise<WireError | undefined>((resolve) => {
    end = resolve;
  });
  return {
    messages,
    diagnostics,
    over,
    message(message) {
      messages.push(message);
      for (const { count, go } of waiting) if (messages.length >= count) go();
      return undefined;
    },
    largest: () => Number.POSITIVE_INFINITY,
    dropped: () => undefined,
    closed: (cause) => end(cause),
    diagnostic: (text) => void diagnostics.push(text),
    received: (count) =>
      new Promise((go) => {
        if (messages.length >= count) go();
        else waiting.push({ count, go });
      }),
  };
}
