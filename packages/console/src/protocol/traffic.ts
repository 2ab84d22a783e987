import type { FrameHead } from "./rows.ts";

/** Reads the messages between Fairlead and its servers. New ones arrive as events. */
export interface TrafficCommands {
  /** Messages that the host still has, oldest first. */
  "traffic/list": {
    params: { readonly before?: number | undefined; readonly limit?: number | undefined };
    result: { readonly frames: readonly FrameHead[]; readonly oldest?: number | undefined };
  };
  /** The whole message, with secrets hidden. Absent if the host no longer has it. */
  "traffic/body": { params: { readonly id: number }; result: { readonly text?: string | undefined } };
  /** The messages of one server as a recording that `fairlead serve-recording` plays. */
  "traffic/export": { params: { readonly server: string }; result: { readonly file: string; readonly text: string } };
}
