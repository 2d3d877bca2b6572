import RedisClient
import Glibc
let path = CommandLine.arguments[1]
let total = Int(CommandLine.arguments[2])!
let connection = try await RedisConnection.connect(RedisConfiguration(url: "unix://\(path)"))
func cpu() -> Double { var u = rusage(); getrusage(0, &u); return Double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + Double(u.ru_utime.tv_usec + u.ru_stime.tv_usec)/1e6 }
for tasks in [1, 64, 512] {
  let n = tasks == 1 ? total / 20 : total
  let c0 = cpu()
  let start = ContinuousClock.now
  try await withThrowingTaskGroup(of: Void.self) { group in
    for t in 0..<tasks {
      group.addTask {
        for i in 0..<(n / tasks) { try await connection.send(RedisCommand("SET", .string("key:\(t)"), .integer(i))) }
      }
    }
    try await group.waitForAll()
  }
  let s = (ContinuousClock.now - start) / .seconds(1)
  let c = cpu() - c0
  print(tasks, Int(Double(n)/s), "SET/s", s*1e6/Double(n)*Double(tasks), "us/cmd", "cpu us/cmd", c*1e6/Double(n))
}
let body = [UInt8](repeating: 7, count: 10_000_000)
let c1 = cpu()
let start = ContinuousClock.now
for _ in 0..<50 { try await connection.send(RedisCommand("SET", "big", .bytes(body))) }
print("10MB SET", (ContinuousClock.now - start) / .seconds(1) / 50 * 1000, "ms", (cpu()-c1)/50*1000, "ms cpu")
let g = ContinuousClock.now
for _ in 0..<50 { _ = try await connection.send(RedisCommand("GET", "big")) }
print("10MB GET", (ContinuousClock.now - g) / .seconds(1) / 50 * 1000, "ms")
