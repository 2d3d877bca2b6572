# Jobs for Sidekiq that do nothing. `sidekiq -r` loads this file; run as a program, it enqueues so many of them.
require 'sidekiq'

# Sidekiq writes two lines to its log for each job otherwise.
Sidekiq.logger.level = Logger::WARN if ENV['QUIET']
# Its Redis client writes a warning for each fetch otherwise.
Redis.silence_deprecations = true

class Nothing
  include Sidekiq::Worker

  def perform(_url) end
end

if $PROGRAM_NAME == __FILE__
  (1..Integer(ARGV.fetch(0))).each_slice(1000) do |numbers|
    Sidekiq::Client.push_bulk('class' => Nothing, 'args' => numbers.map { |number| ["http://127.0.0.1/path/#{number}"] })
  end
end
