export { WireError, type WireErrorCode, type WireEvidence } from "./errors.ts";
export type {
  Era,
  JsonObject,
  NotificationListener,
  Progress,
  RequestHandler,
  RequestOptions,
  ServerInfo,
  Session,
} from "./session.ts";
