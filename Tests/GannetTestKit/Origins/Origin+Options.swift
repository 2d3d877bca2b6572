import FoundationEssentials
internal import GannetBase

extension Origin {
    /// An origin's files and settings.
    package struct Options: Hashable, Sendable {
        /// How many files it generates, `/0.bin` and on. The first is empty, the second has one byte.
        package var fileCount = 20

        /// The size of the largest file in bytes; the others are spread below it, more small ones than large ones.
        package var largestFile = 200_000

        /// Decides the files' content.
        package var seed: UInt64 = 1

        /// When set, it also listens on a port that speaks HTTPS.
        package var certificate: Certificates.Certificate?

        /// Whether its port for HTTPS offers HTTP/2 as well.
        package var offersHTTP2 = true

        /// Where it listens, on one and the same port.
        package var addresses = ["127.0.0.1"]

        /// For measurements: thousands of connections, and no account of the requests.
        package var isFast = false

        /// nginx' worker processes. The log has the order of events with one alone.
        package var processes = 1

        /// Further nginx directives for its one `server` block, such as `location = /moved { return 301 /0.bin; }`.
        package var directives = ""

        /// Further nginx directives for the `http` block around it.
        package var httpDirectives = ""

        package init() {}

        /// The default options with some changed.
        package init(_ change: (inout Options) -> Void) {
            change(&self)
        }

        func makeFiles(in folder: TemporaryFolder) throws -> [File] {
            try FileManager.default.createDirectory(atPath: folder.file("files"), withIntermediateDirectories: false)
            var generator = SeededBytes(seed: seed)
            return try (0..<fileCount).map { number in
                // Squaring puts half of the files below a quarter of the largest size.
                let fraction = Double(generator.next() >> 11) / Double(1 << 53)
                let size = number < 2 ? number : Int(Double(largestFile) * fraction * fraction)
                let content = generator.next(count: size)
                try folder.write(content, to: "files/\(number).bin")
                return File(path: "/\(number).bin", size: size, sha256: sha256(of: content))
            }
        }

        // Everything it writes is in the folder. Root's nginx would run its workers as somebody who may not enter that.
        func configuration(folder: String, port: UInt16, tlsPort: UInt16?) -> String {
            var listening = addresses.map { "listen \($0):\(port) backlog=4096;" }.joined(separator: "\n")
            if let certificate, let tlsPort {
                listening += """
                    listen 127.0.0.1:\(tlsPort) ssl\(offersHTTP2 ? " http2" : "") backlog=4096;
                    ssl_certificate \(certificate.certificate);
                    ssl_certificate_key \(certificate.key);
                    """
            }
            return """
                \(geteuid() == 0 ? "user root;" : "")
                daemon off;
                worker_processes \(processes);
                pid \(folder)/nginx.pid;
                error_log stderr notice;
                events { worker_connections \(isFast ? 16_384 : 1024); }
                http {
                    log_format request escape=none '$request_method $request_uri $status';
                    \(isFast ? "access_log off; open_file_cache max=100;" : "access_log /dev/stdout request;")
                    default_type application/octet-stream;
                    client_body_temp_path \(folder)/body;
                    proxy_temp_path \(folder)/proxy;
                    fastcgi_temp_path \(folder)/fastcgi;
                    uwsgi_temp_path \(folder)/uwsgi;
                    scgi_temp_path \(folder)/scgi;
                    keepalive_requests 1000000000;
                    \(httpDirectives)
                    server {
                        \(listening)
                        root \(folder)/files;
                        location \(Origin.fencePath) { return 204; }
                        location ~ ^/gate-(?<gate>[0-9]+)/ {
                            access_log off;
                            proxy_pass http://127.0.0.1:$gate;
                            proxy_buffering off;
                            proxy_read_timeout 1d;
                            error_page 502 504 = @gone;
                        }
                        location @gone { access_log off; return 444; }
                        \(directives)
                    }
                }

                """
        }
    }
}
