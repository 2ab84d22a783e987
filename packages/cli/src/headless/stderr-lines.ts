/** What a person watching a turn is told on stderr: calls, what was denied or failed, who is waited for. Pure. */

import { bytesText } from "@fairlead/core/normalise/content/json-text";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { CallEvent, CallFailure, TurnEvent } from "@fairlead/core/turn/events";
import { clip } from "@fairlead/wire/text";

/** Lines; none for what stdout says, and for what is no news. */
export function eventLines(event: TurnEvent): readonly SafeText[] {
  switch (event.type) {
    case "call":
      return callLines(event);
    case "quarantined": {
      const { server, serverToolName, reason } = event;
      return [safe`set aside: ${toSafeLine(`${server}.${serverToolName}`)}: ${toSafeLine(reason)}`];
    }
    case "waiting":
      return [safe`waiting for ${toSafeLine(event.servers.join(", "))}`];
    case "missing":
      return event.servers.flatMap(({ server, ...why }) => withNext(safe`without ${toSafeLine(server)}`, why));
    case "note":
      return [safe`note: ${toSafeLine(event.message)}`];
    case "retry":
      return [safe`the model did not answer: ${toSafeLine(event.reason)}; asked again in ${seconds(event.delayMs)} s`];
    case "done":
    case "text":
    case "thought":
    case "progress":
    case "confirmation":
    case "usage":
    case "error":
      return [];
  }
}

/** At the end: each was told when it happened; what would let one through is the same for all of its kind. */
export function deniedAdvice(denied: readonly CallEvent[]): readonly SafeText[] {
  const isTool = ({ serverToolName }: CallEvent): boolean => serverToolName !== undefined;
  return [
    ...(denied.some(isTool) ? [safe`to let a tool run that was denied: --allow SERVER.TOOL`] : []),
    ...(denied.every(isTool)
      ? []
      : [safe`to let a resource be read that was denied: a rule with kind = "resource" in a policy file`]),
  ];
}

const longestArguments = 200;

function callLines(event: CallEvent): readonly SafeText[] {
  const { status, args, error, media = [], files = [] } = event;
  const name = callTitle(event);
  switch (status) {
    case "running":
      return [safe`${name} ${toSafeLine(clip(JSON.stringify(args), longestArguments))}`];
    case "ok":
    case "error":
    case "denied":
    case "cancelled":
      return [
        ...media.map(({ mimeType, data }) => safe`${name}: ${toSafeLine(bytesText(mimeType, data))}`),
        ...files.map((file) => safe`${name}: kept whole in ${toSafeLine(file)}`),
        ...(error === undefined ? [] : withNext(safe`${name}: ${words[status]}`, error)),
      ];
    case "requested":
    case "asking":
    case "queued":
      return [];
  }
}

const words = {
  ok: safe`done`,
  error: safe`failed`,
  denied: safe`denied`,
  cancelled: safe`cancelled`,
} as const;

/** For people; nothing ever takes it apart again. */
export function callTitle({ name, server, serverToolName = name }: CallEvent): SafeText {
  return toSafeLine(server === undefined ? name : `${server}.${serverToolName}`);
}

function withNext(subject: SafeText, { message, next }: Omit<CallFailure, "code">): readonly SafeText[] {
  const line = safe`${subject}: ${toSafeLine(message)}`;
  return next === undefined ? [line] : [joinSafe([line, safe`  next: ${toSafeLine(next)}`])];
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 100) / 10;
}
