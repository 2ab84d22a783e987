/** The pages that the console shows instead of itself: no session, and a session that has ended. */

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Opened } from "../session.ts";

export function Brand(): VNode {
  return (
    <div class="brand">
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <path d="M2.500 13.500C5 13.500 5 8 8 8s3-5.500 5.500-5.500M8 8h5.500M2.500 8H5" />
      </svg>
      fairlead
    </div>
  );
}

interface MessageProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A page with one message. It needs no session, so it uses none of the app. */
export function Message({ title, children }: MessageProps): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – fairlead`;
    heading.current?.focus();
  }, [title]);
  return (
    <main class="alone">
      <Brand />
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </main>
  );
}

/** The stream has said that the session is over. */
export function SessionOver({ reason }: { readonly reason: "closed" | "refused" }): VNode {
  return (
    <Message title={reason === "closed" ? "This console was closed" : "This session has ended"}>
      <p>The address of this page works only as long as the console that opened it.</p>
      <Reopen />
    </Message>
  );
}

/** There is no session to begin with. */
export function NoSession({ opened }: { readonly opened: Exclude<Opened, { readonly state: "open" }> }): VNode {
  const isQuestion = location.pathname !== "/";
  if (opened.state === "unreachable")
    return (
      <Message title="Fairlead does not answer">
        <p>The program that opened this page has ended, or is busy. Reload the page to try again.</p>
      </Message>
    );
  if (isQuestion)
    return (
      <Message title={opened.state === "absent" ? "Address incomplete" : "Open in another window, or no longer open"}>
        <p>
          {opened.state === "absent"
            ? "To see the question, open the whole address, including the part after the #."
            : "Only the window that opened this question first shows it and takes the answer. If you did not open it, another program has opened its address: list the questions in a terminal, and deny the request."}
        </p>
        <p>
          In a terminal: <code>fairlead approvals</code>
        </p>
      </Message>
    );
  return (
    <Message title={opened.state === "refused" ? "This address was used before, or is too old" : "Address incomplete"}>
      <p>An address of the console works once, within a minute, and for one tab.</p>
      <Reopen />
    </Message>
  );
}

function Reopen(): VNode {
  return (
    <p>
      To open the console again, run <code>fairlead console</code> in a terminal, or press Enter where it runs.
    </p>
  );
}
