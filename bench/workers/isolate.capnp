# Plain workerd with one worker, without bindings. bench/startup.ts fills in the name of the bundle.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "worker", worker = (
    modules = [(name = "worker", esModule = embed "{bundle}")],
    compatibilityDate = "2026-11-17",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
);
