// Browsers start no worker for a page that was opened as a file. The search then runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = (this.inside = frame.contentWindow);
      inside.document.open();
      inside.document.write("<html><body></body></html>");
      inside.document.close();
      const load = (source) =>
        new Promise((loaded) => {
          const script = inside.document.createElement("script");
          script.onload = loaded;
          script.src = source;
          inside.document.body.appendChild(script);
        });
      // What a worker's script calls.
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...sources) => sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      this.ready = load(url);
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
