import type { Page } from "./data";
import { App } from "./report";
import { start } from "./start";

start<Page>((page) => <App page={page} />, true);
