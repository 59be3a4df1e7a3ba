// The search of the site is a worker, and browsers start none for pages that are opened as files: there it runs in a frame.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) => Promise.all(urls.map((u) => this.run(inside, u)));
      this.ready = this.run(inside, url);
      this.inside = inside;
    }
    run({ document }, src) {
      return new Promise((then) => {
        document.body.append(Object.assign(document.createElement("script"), { src, onload: then }));
      });
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
