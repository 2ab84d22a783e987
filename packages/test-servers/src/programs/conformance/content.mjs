// Content blocks that tools, prompts and resources of the conformance server share.

/** One blue pixel. */
export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNQSFgAAAHEASFiX4r9AAAAAElFTkSuQmCC";
/** A sound file with two samples of silence. */
export const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==";

export const text = (words) => ({ type: "text", text: words });
export const image = { type: "image", data: png, mimeType: "image/png" };
export const embedded = (uri, mimeType, words) => ({ type: "resource", resource: { uri, mimeType, text: words } });
