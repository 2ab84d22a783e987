/** What the command and the gateway use of turns with a model. */

export type { Conversation, ConversationTokens, ConversationTool, OfferedTool } from "../turn/conversation.ts";
export type { CallEvent, CallFailure, CallStatus, DoneReason, MissingServer, TurnEvent } from "../turn/events.ts";
