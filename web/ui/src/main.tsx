import "./mantine";
import "./style.css";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { client, keepTrying } from "./client";
import { Pages } from "./pages";
import { Boundary } from "./parts/Boundary";
import { NotLoaded } from "./parts/later";
import { Notices } from "./parts/notices";
import { Session } from "./session";
import { Shell } from "./shell";
import { theme, variables } from "./theme";

// The policy of the page lets a style in when it carries this word, which is another one every time the page is sent.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? "";
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce; // for the library that stops a page from scrolling behind a dialog

keepTrying();
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no root");
createRoot(root, {
  // The page says what it could not load; that is no fault of the program.
  onCaughtError: (e) => {
    if (!(e instanceof NotLoaded)) console.error(e);
  },
}).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <Notices />
      <QueryClientProvider client={client}>
        <Router base="/ui">
          <Boundary of="interface">
            <Session>
              <Shell>
                <Pages />
              </Shell>
            </Session>
          </Boundary>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
