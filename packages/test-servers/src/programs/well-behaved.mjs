// Does what one expects of it.
import { serve } from "./serve.mjs";

serve();
