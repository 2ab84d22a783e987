export { certificate, key as certificateKey } from "./certificate.ts";
export { type CutHow, type CuttingServer, cuttingServer, eventsBeforeAnswer } from "./cutting-server.ts";
export { isRunning, processesWith, until } from "./process-list.ts";
export { type EverythingServer, everythingServer, realServer } from "./real-server.ts";
export { type RefusingProxy, refusingProxy } from "./refusing-proxy.ts";
export { scaled, seed } from "./scale.ts";
export { type StdioEntry, type StdioProgram, stdioServer } from "./stdio-server.ts";
export { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";
export {
  behaves,
  brokenJson,
  cutAt,
  empty,
  emptyJson,
  loginPage,
  noContent,
  redirectTo,
  status,
  wrongContentType,
} from "./web-replies.ts";
export { type WebReply, type WebRequest, type WebServer, webServer } from "./web-server.ts";
export { type Workshop, workshop } from "./workshop.ts";
