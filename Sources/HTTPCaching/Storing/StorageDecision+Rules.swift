internal import HTTPEngine

extension StorageDecision {
    package init(for exchange: Exchange, policy: FreshnessPolicy) {
        do throws(Reason) {
            self = .keep(try Self.terms(exchange, policy))
        } catch {
            self = .refuse(error)
        }
    }

    private static func terms(_ exchange: Exchange, _ policy: FreshnessPolicy) throws(Reason) -> Terms {
        guard exchange.isComplete else { throw .incomplete }
        if exchange.request.control.noStore { throw .requestForbids }
        let final = AnswerHead(status: exchange.status, headers: exchange.headers)
        var (selecting, isForEverybody) = try permission(final, exchange.request)
        guard isLifetimeGiven(final) || StatusCode.isHeuristicallyCacheable(final.status) else { throw .noLifetime }
        // What one of the answers on the way forbids is forbidden. One that gives no lifetime forbids nothing: it has to be asked again each time.
        for hop in exchange.redirects {
            let permitted = try permission(AnswerHead(status: hop.status, headers: hop.headers), exchange.request)
            selecting = try union(selecting, permitted.selecting)
            isForEverybody = isForEverybody && permitted.isForEverybody
        }
        guard let headers = KeptHeaders(of: final, receivedAt: exchange.receivedAt) else { throw .unkeepableHeaders }
        let freshness = Freshness(of: exchange, policy: policy)
        guard freshness.isOfUse(after: exchange.receivedAt) || !headers.validators.isEmpty else { throw .ofNoUse }
        return Terms(
            freshness: freshness, selecting: selecting, variant: VariantKey(selecting, request: exchange.request.headers),
            isForEverybody: isForEverybody, headers: headers)
    }

    /// Whether one answer may be kept, as far as it says and its status does.
    private static func permission(
        _ head: AnswerHead, _ request: RequestFacts
    ) throws(Reason) -> (selecting: SelectingHeaders, isForEverybody: Bool) {
        switch head.status {
        case ..<200: throw .interim
        case 206: throw .partial
        case 304: throw .notModified
        case let status where StatusCode.forbidsStorage(status): throw .status
        default: break
        }
        // Whoever heeds `must-understand` and does understand passes over `no-store`, which is there for those who do not.
        if head.control.mustUnderstand {
            guard StatusCode.isUnderstood(head.status) else { throw .notUnderstood }
        } else if head.control.noStore {
            throw .noStore
        }
        if head.control.isPrivate == .everything { throw .isPrivate }
        if request.hasCredentials, !head.control.permitsSharingAfterCredentials { throw .credentials }
        do throws(SelectingHeaders.Problem) {
            let selecting = head.headers.has("vary") ? try SelectingHeaders(head.headers.values(of: "vary")) : .none
            return (selecting, head.control.permitsSharingAfterCredentials)
        } catch {
            throw error == .tooMany ? .variesByTooMuch : .variesByAnything
        }
    }

    /// Whether it says that it may be kept, or until when, be it badly.
    private static func isLifetimeGiven(_ head: AnswerHead) -> Bool {
        head.control.isPublic || head.control.maxAge != .absent || head.control.sharedMaxAge != .absent || head.headers.has("expires")
    }

    private static func union(_ one: SelectingHeaders, _ other: SelectingHeaders) throws(Reason) -> SelectingHeaders {
        do throws(SelectingHeaders.Problem) {
            return try one.union(other)
        } catch {
            throw .variesByTooMuch
        }
    }
}

extension StorageDecision.Reason: Error {}

extension Freshness {
    /// Whether it may ever be used without asking, or instead of an answer.
    fileprivate func isOfUse(after moment: Moment) -> Bool { max(staleWhileRevalidateUntil, staleIfErrorUntil) > moment }
}
