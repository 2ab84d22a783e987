/** Keeps the messages that a channel delivers before `rpc.ts` is ready, and passes them on once it is. */

import type { WireError } from "../errors.ts";
import { createDiagnostics } from "../shapes/diagnostics.ts";
import { errorMessage } from "../shapes/text.ts";
import type { ConnectOptions, WireLimits } from "../target.ts";
import type { ChannelEvents, RpcMessage } from "./channel.ts";
import type { Unsolicited } from "./read-budget.ts";

/** HTTP headers of a client's request. */
type Headers = Readonly<Record<string, string>>;

/** The part of `rpc.ts` that handles messages, and the end of the channel. */
export interface Receiver extends Pick<ChannelEvents, "largest" | "dropped"> {
  receive(message: RpcMessage, size: number, about?: number, headers?: Headers): Unsolicited | undefined;
  end(cause: WireError | undefined): void;
}

/** The callbacks for a channel, and `attach`, which sets their receiver. */
export interface Reception {
  readonly events: ChannelEvents;
  readonly attach: (receiver: Receiver) => void;
}

export interface ReceptionOptions extends Pick<ConnectOptions, "onDiagnostic" | "onReopened" | "onStreamEnded"> {
  readonly limits: Pick<WireLimits, "unsolicitedMessageBytes">;
}

/** Creates the callbacks for a channel that is about to open. */
export function createReception({ onDiagnostic, onReopened, onStreamEnded, limits }: ReceptionOptions): Reception {
  const early: { readonly message: RpcMessage; readonly size: number; readonly headers: Headers | undefined }[] = [];
  const diagnose = createDiagnostics((text) => onDiagnostic?.(text));
  let receiver: Receiver | undefined;
  let gone: { readonly cause: WireError | undefined } | undefined;

  /** If the receiver throws, the error becomes a diagnostic and the connection stays open. */
  function handle(...[to, message, size, about, headers]: [Receiver, ...Parameters<Receiver["receive"]>]) {
    try {
      return to.receive(message, size, about, headers);
    } catch (error) {
      diagnose("a message could not be handled", `a message could not be handled: ${errorMessage(error)}`);
      return "notifications";
    }
  }

  return {
    events: {
      message(message, size, about, headers) {
        if (receiver) return handle(receiver, message, size, about, headers);
        early.push({ message, size, headers });
        return "notifications";
      },
      largest: () => receiver?.largest() ?? limits.unsolicitedMessageBytes,
      dropped: (start, cause) => receiver?.dropped(start, cause),
      closed(cause) {
        if (receiver) receiver.end(cause);
        else gone = { cause };
      },
      diagnostic: (text) => onDiagnostic?.(text),
      reopened: () => onReopened?.(),
      streamEnded: () => onStreamEnded?.(),
    },
    attach(given) {
      receiver = given;
      for (const { message, size, headers } of early) handle(given, message, size, undefined, headers);
      if (gone) given.end(gone.cause);
    },
  };
}
