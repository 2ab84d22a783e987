/** Finds the recording that a command means: by an id, by the path of a file, or the latest one of this workspace. */

import { resolve } from "node:path";
import {
  type ConversationInfo,
  findConversation,
  listConversations,
} from "@fairlead/core/conversations/list-conversations";
import { type ConversationRecording, readConversation } from "@fairlead/core/conversations/read-recording";
import { conversationsFolder, recordingPath } from "@fairlead/core/conversations/recording-file";
import { HostError } from "@fairlead/core/errors";
import type { Configuration } from "@fairlead/core/trust/configuration";

type Place = Pick<Configuration, "locations">;

export function folderOf({ locations }: Place): string {
  return conversationsFolder(locations.state);
}

/** @throws HostError `not_found`; `usage` if the file is not a recording */
export async function recordingOfId(id: string, place: Place): Promise<ConversationRecording> {
  const folder = folderOf(place);
  const info = await findConversation(folder, id);
  return readConversation(recordingPath(folder, info.id));
}

/** `word`: an id, or the path of a file. @throws HostError `not_found`; `usage` if the file is not a recording */
export async function recordingOf(word: string, place: Place, cwd: string): Promise<ConversationRecording> {
  // An id has neither: a word with a slash or a dot is a path.
  return /[/\\.]/.test(word) ? readConversation(resolve(cwd, word)) : recordingOfId(word, place);
}

/** The values of `--continue` and `--resume [ID]`. */
export interface ResumeOptions {
  readonly continue?: boolean;
  /** True without an id. */
  readonly resume?: string | true;
}

/**
 * The conversation to resume; undefined for a new one. Without an id it is the latest of this workspace.
 *
 * @throws HostError `not_found`
 */
export async function wantedConversation(
  { continue: isContinued = false, resume }: ResumeOptions,
  place: Place,
): Promise<ConversationInfo | undefined> {
  if (typeof resume === "string") return findConversation(folderOf(place), resume);
  if (!isContinued && resume === undefined) return undefined;
  const { root: workspace } = place.locations;
  const [latest] = await listConversations(folderOf(place), { limit: 1, workspace });
  if (latest !== undefined) return latest;
  throw new HostError("not_found", `no conversation is recorded for ${workspace}`, { next: "fairlead conversations" });
}

/** The name for `--model` that gives the model of a recorded conversation again. */
export function modelNameOf({ model }: Pick<ConversationInfo, "model">): string | undefined {
  return model.provider === "scripted" ? undefined : model.name;
}
