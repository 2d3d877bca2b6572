@testable import GannetQueue

extension WorkerRecord {
    /// A worker on this machine with so many requests in flight.
    static func ofTest(_ machine: String, active: Int = 3) -> WorkerRecord {
        let hosts = [
            HostLoad(
                name: "h0", running: active, longest: .milliseconds(1500), finished: 40, failed: 2, average: .milliseconds(120))
        ]
        return WorkerRecord(
            machine: machine, processID: 4711, version: "1.2.3", concurrency: 64, active: active, isStopping: false, interval: .seconds(5),
            hosts: hosts, hostLimit: 8, age: .seconds(60), ended: 40, partitions: [0],
            patience: WaitPatience(silence: .seconds(900), rests: .seconds(86_400)), lease: .seconds(30))
    }

    static let ofTest = ofTest("machine")
}
