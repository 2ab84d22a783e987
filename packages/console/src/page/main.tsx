/** The page of the console. */

import { render } from "preact";

render(<main id="page" />, document.body);
