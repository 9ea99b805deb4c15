# Plain workerd with one worker, without bindings. bench/start.ts fills in the braces.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "worker", worker = (
    modules = [(name = "worker", esModule = embed "{bundle}")],
    compatibilityDate = "{date}",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
);
