/** Finds a recorded conversation: by its id, by the path of its file, or the latest one of this workspace. */

import { resolve } from "node:path";
import {
  type ConversationInfo,
  conversationPath,
  conversationsFolder,
  findConversation,
  listConversations,
  type RecordedConversation,
  readConversation,
} from "@fairlead/core/conversations";
import { HostError } from "@fairlead/core/errors";
import type { Configuration } from "@fairlead/core/trust";

type ConfiguredLocations = Pick<Configuration, "locations">;

/** Returns the folder with the recorded conversations of all workspaces. */
export function folderOf({ locations }: ConfiguredLocations): string {
  return conversationsFolder(locations.state);
}

/**
 * Reads a recorded conversation by its id.
 * @throws HostError `not_found`; `usage` if the file is not a recorded conversation
 */
export async function conversationOfId(id: string, configuration: ConfiguredLocations): Promise<RecordedConversation> {
  const folder = folderOf(configuration);
  const info = await findConversation(folder, id);
  return readConversation(conversationPath(folder, info.id));
}

/**
 * Finds a recorded conversation.
 * @param word An id, or the path of a file.
 *
 * @throws HostError `not_found`; `usage` if the file is not a recorded conversation
 */
export async function conversationOf(
  word: string,
  configuration: ConfiguredLocations,
  cwd: string,
): Promise<RecordedConversation> {
  // An id contains neither a slash nor a dot, so a word with one of them is a path.
  return /[/\\.]/.test(word) ? readConversation(resolve(cwd, word)) : conversationOfId(word, configuration);
}

/** The options `--continue` and `--resume [ID]`. */
export interface ResumeOptions {
  readonly continue?: boolean;
  /** The id; `true` if `--resume` was given without an id. */
  readonly resume?: string | true;
}

/**
 * Returns the conversation that `--resume ID` names. For `--continue`, or `--resume` without an id, returns the latest
 * conversation of this workspace. Without these options, returns undefined.
 *
 * @throws HostError `not_found`
 */
export async function wantedConversation(
  { continue: isContinued = false, resume }: ResumeOptions,
  configuration: ConfiguredLocations,
): Promise<ConversationInfo | undefined> {
  if (typeof resume === "string") return findConversation(folderOf(configuration), resume);
  if (!isContinued && resume === undefined) return undefined;
  const { root: workspace } = configuration.locations;
  const [latest] = await listConversations(folderOf(configuration), { limit: 1, workspace });
  if (latest !== undefined) return latest;
  throw new HostError("not_found", `no conversation is recorded for ${workspace}`, { next: "fairlead conversations" });
}

/** Returns the value of `--model` that selects the same model as in the recorded conversation. */
export function modelNameOf({ model }: Pick<ConversationInfo, "model">): string | undefined {
  return model.provider === "scripted" ? undefined : model.name;
}
