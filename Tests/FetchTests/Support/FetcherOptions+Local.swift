import GannetFetch

extension FetcherOptions {
    /// For origins of this machine.
    static var local: FetcherOptions { FetcherOptions { $0.allowedNetworks = ["all"] } }
}
