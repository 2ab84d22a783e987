/** What the command and the gateway use of recorded conversations. */

export { conversationPath, conversationsFolder } from "../conversations/conversation-file.ts";
export type { RecordedEvent, RecordedLine } from "../conversations/format.ts";
export {
  type ConversationInfo,
  conversationsIn,
  findConversation,
  listConversations,
  removeConversation,
} from "../conversations/list-conversations.ts";
export { type RecordedConversation, readConversation } from "../conversations/read-conversation.ts";
